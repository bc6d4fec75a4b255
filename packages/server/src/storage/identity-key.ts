/** What the uniqueness of names and addresses is judged by: compatibility forms folded, lower case (contract 2). */
export function identityKey(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
