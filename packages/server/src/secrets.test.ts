import { expect, test } from 'vitest';
import { SealedText } from './secrets.ts';

const box = (now = 0, secret = 'secret', purpose = 'a purpose') => new SealedText(secret, purpose, () => now);

test('opens a sealed text in time, with the same secret and purpose', () => {
  const text = '{"state":"ø 🦀\n"}';
  const sealed = box().seal(text, 1000);
  expect(sealed).toMatch(/^[\w-]+$/);
  expect(box(999).open(sealed)).toBe(text);
  expect(box(1000).open(sealed)).toBeUndefined();
  expect(box(0, 'another').open(sealed)).toBeUndefined();
  expect(box(0, 'secret', 'another').open(sealed)).toBeUndefined();
  expect(box().seal(text, 1000)).not.toBe(sealed);
});

test('detects every changed bit', () => {
  const bytes = Buffer.from(box().seal('text', 1000), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(box().open(changed.toString('base64url'))).toBeUndefined();
  }
});

test.each(['', 'x', 'A'.repeat(37), 'A'.repeat(4000)])('nonsense is not opened: %#', (sealed) => {
  expect(box().open(sealed)).toBeUndefined();
});
