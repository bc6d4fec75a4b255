import { expect, test } from 'vitest';
import { passwordFailure, usernameFailure } from './profile-failures.ts';

test.each([
  [usernameFailure, 400, 'Taken', 'Taken'],
  [usernameFailure, 400, '', 'Username already exists or is invalid'],
  [usernameFailure, 401, '', 'You must be logged in to change your username'],
  [usernameFailure, 500, '', 'Failed to update username'],
  [passwordFailure, 429, 'Later', 'Later'],
  [passwordFailure, 400, '', 'Current password is incorrect'],
  [passwordFailure, 401, '', 'You must be logged in to change your password'],
  [passwordFailure, 500, '', 'Failed to update password'],
])('%o, %i, %s: %s', (failure, status, sentence, expected) => {
  expect(failure({ status, sentence })).toBe(expected);
});
