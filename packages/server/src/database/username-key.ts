/**
 * What the uniqueness of usernames is judged by (contract 2): as for addresses (`identityKey`), and letters of which the case changes the number or
 * the form, too: ß and SS, ς and σ. Not for addresses, where those are two mailboxes.
 */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
}
