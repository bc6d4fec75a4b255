import { ApiError } from '@creel/contract';
import { expect, test } from 'vitest';
import { describeUserAgent, passwordFailure, usernameFailure } from './profile-labels.ts';

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  [`${WINDOWS} Chrome/130.0.0.0 Safari/537.36`, 'Chrome on Windows'],
  [`${WINDOWS} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`, 'Edge on Windows'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/120.0 Mobile Safari/604.1',
    'Chrome on iOS',
  ],
  ['curl/8.5.0', 'curl'],
  ['creel-cli/0.1.0', 'creel-cli/0.1.0'],
  ['', 'Unknown program'],
])('%s', (userAgent, expected) => {
  expect(describeUserAgent(userAgent)).toBe(expected);
});

test.each([
  [usernameFailure, 400, 'Taken', 'Taken'],
  [usernameFailure, 400, '', 'Username already exists or is invalid'],
  [usernameFailure, 401, '', 'You must be logged in to change your username'],
  [usernameFailure, 500, '', 'Failed to update username'],
  [usernameFailure, 0, 'No response', 'An unexpected error occurred. Please try again.'],
  [passwordFailure, 429, 'Later', 'Later'],
  [passwordFailure, 400, '', 'Current password is incorrect'],
  [passwordFailure, 401, '', 'You must be logged in to change your password'],
  [passwordFailure, 500, '', 'Failed to update password'],
  [passwordFailure, 0, 'No response.', 'Failed to update password. No response.'],
])('%o, %i, %s: %s', (failure, status, sentence, expected) => {
  expect(failure(new ApiError(status, sentence))).toBe(expected);
});

test('anything else than a failed call is unexpected', () => {
  expect(usernameFailure(new TypeError('no'))).toBe('An unexpected error occurred. Please try again.');
  expect(passwordFailure(new TypeError('no'))).toBe('Failed to update password');
});
