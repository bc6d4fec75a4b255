import { providerMessageSchema } from '@creel/contract';
import { expect, test } from 'vitest';
import { completeIdentity } from './provider-button.tsx';

test('the display name falls back to the part of the email before the at sign', () => {
  expect(completeIdentity({ email: 'marta@example.com', uid: '1' }).displayName).toBe('marta');
  expect(completeIdentity({ email: 'marta@example.com', displayName: 'Marta M.' }).displayName).toBe('Marta M.');
  expect(completeIdentity({ uid: '1' }).displayName).toBeNull();
});

test.each([[{ type: 'webpackOk' }], ['creel-sign-in'], [null], [{ type: 'creel-sign-in', identity: 'me' }]])(
  "%o is not a message of the provider's window",
  (data) => {
    expect(providerMessageSchema.safeParse(data).success).toBe(false);
  },
);
