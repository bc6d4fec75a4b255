/** Why third-party sign-in came to nothing, with the sentence for the person (contract 6). */
export const PROVIDER_PROBLEMS = {
  'popup-blocked': 'The browser blocked the sign-in window. Allow pop-ups for this site and try again.',
  'popup-closed-by-user': 'The sign-in window was closed before you had signed in.',
  'unauthorized-domain': 'This address is not allowed to sign in with the provider. Open Creel at its own address.',
  'network-request-failed': 'The sign-in provider could not be reached. Please check your connection and try again.',
  failed: 'Google sign-in failed',
} as const;

export type ProviderProblem = keyof typeof PROVIDER_PROBLEMS;

export function isProviderProblem(code: string): code is ProviderProblem {
  return Object.hasOwn(PROVIDER_PROBLEMS, code);
}
