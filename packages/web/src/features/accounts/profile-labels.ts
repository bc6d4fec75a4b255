import { ApiError } from '@creel/contract';
import { namedError } from '../../api/client.ts';

/** The server's message, else one that depends on the status. */
export function usernameFailure(error: unknown): string {
  // A status of 0: there was no response.
  if (!(error instanceof ApiError) || error.status === 0) return 'An unexpected error occurred. Please try again.';
  const { status, sentence } = error;
  if (sentence !== '') return sentence;
  if (status === 400) return 'Username already exists or is invalid';
  if (status === 401) return 'You must be logged in to change your username';
  return 'Failed to update username';
}

/** The server's message, else one that depends on the status. */
export function passwordFailure(error: unknown): string {
  const status = error instanceof ApiError && error.sentence === '' ? error.status : undefined;
  if (status === 400) return 'Current password is incorrect';
  if (status === 401) return 'You must be logged in to change your password';
  return namedError(error, 'Failed to update password');
}

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\b(Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** 'Chrome on Linux', from a user agent header. Unknown user agents are returned unchanged. */
export function describeUserAgent(userAgent: string): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser === undefined) return userAgent === '' ? 'Unknown program' : userAgent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
