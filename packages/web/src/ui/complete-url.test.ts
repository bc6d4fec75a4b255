import { expect, test } from 'vitest';
import { completeUrl } from './complete-url.ts';

test.each([
  ['localhost:4000/x', 'http://localhost:4000/x'],
  [' localhost ', 'http://localhost'],
  ['127.0.0.1/a?b=c', 'http://127.0.0.1/a?b=c'],
  ['[::1]:80', 'http://[::1]:80'],
  ['app:3000/hooks', 'http://app:3000/hooks'],
  ['hooks.shop.test/a', 'https://hooks.shop.test/a'],
  ['https://shop.test', 'https://shop.test'],
  ['HTTP://shop.test', 'HTTP://shop.test'],
  ['nowhere', 'nowhere'],
  ['/hooks', '/hooks'],
  ['mailto:a@b.test', 'mailto:a@b.test'],
  ['me:secret@shop.test', 'me:secret@shop.test'],
  ['', ''],
])('%j is completed to %j', (text, url) => expect(completeUrl(text)).toBe(url));
