import { credentialsSchema, passwordChangeSchema, userSettingsInputSchema } from '@creel/contract';
import { expect, test } from 'vitest';
import { fieldErrors } from '../../ui/form.tsx';
import { newPasswordFormSchema, registerFormSchema } from './account-forms.ts';

const good = { username: 'marta', email: 'marta@example.com', password: 'secret1', confirmPassword: 'secret1' };

test('a valid registration has no messages', () => {
  expect(fieldErrors(registerFormSchema, good)).toEqual({});
});

test.each([
  [{ username: 'ab' }, { username: 'Username must be at least 3 characters' }],
  [{ email: 'nowhere' }, { email: 'Please enter a valid email address' }],
  [{ password: 'short', confirmPassword: 'short' }, { password: 'Password must be at least 6 characters' }],
  [
    { password: 'short', confirmPassword: 'other' },
    { password: 'Password must be at least 6 characters', confirmPassword: 'Passwords do not match' },
  ],
  [{ confirmPassword: 'secret2' }, { confirmPassword: 'Passwords do not match' }],
  // The first of two errors at one field is reported.
  [{ confirmPassword: 'short' }, { confirmPassword: 'Password must be at least 6 characters' }],
])('%o is reported at its field', (change, errors) => {
  expect(fieldErrors(registerFormSchema, { ...good, ...change })).toEqual(errors);
});

test('every field of an empty registration has its message, except for the repeated password', () => {
  const empty = { username: '', email: '', password: '', confirmPassword: '' };
  expect(Object.keys(fieldErrors(registerFormSchema, empty))).toEqual(['username', 'password', 'email']);
});

test('login, password change and settings have their validation messages', () => {
  expect(fieldErrors(credentialsSchema, { username: 'ab', password: '12345' })).toEqual({
    username: 'Username must be at least 3 characters',
    password: 'Password must be at least 6 characters',
  });
  const change = (newPassword: string, confirmPassword: string) =>
    fieldErrors(passwordChangeSchema, { currentPassword: 'x', newPassword, confirmPassword });
  expect(change('', '')).toEqual({ newPassword: 'All password fields are required' });
  expect(change('secret1', 'secret2')).toEqual({ confirmPassword: 'New passwords do not match' });
  expect(change('short', 'short')).toEqual({ newPassword: 'New password must be at least 6 characters long' });
  const settings = { autoSaveNewEndpoints: false, emailNotifyExpiry: false, emailNotifySubscription: false, email: '' };
  expect(fieldErrors(userSettingsInputSchema, settings)).toEqual({});
  expect(fieldErrors(userSettingsInputSchema, { ...settings, emailNotifyExpiry: true })).toEqual({
    email: 'Please enter a valid email address',
  });
});

test('a new password requires a confirmation', () => {
  expect(fieldErrors(newPasswordFormSchema, { password: 'secret1', confirmPassword: 'secret2' })).toEqual({
    confirmPassword: 'Passwords do not match',
  });
});
