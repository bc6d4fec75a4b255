import { expect, test } from 'vitest';
import { escapeBidiControls } from './encoding.ts';

test('direction controls are escaped, letters of any direction stay', () => {
  expect(escapeBidiControls('"a\u202Eb\u2066\u200F"')).toBe('"a\\u202eb\\u2066\\u200f"');
  expect(escapeBidiControls('"مرحبا שלום"')).toBe('"مرحبا שלום"');
});
