/**
 * The key that decides the uniqueness of usernames. It folds more than `identityKey` for addresses: also letters whose
 * case changes their number or form, such as ß and SS, ς and σ. In addresses those are different mailboxes.
 */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
}
