import { expect, test } from 'vitest';
import { mixesScripts } from './username-scripts.ts';

test.each(['p\u0430ypal', 'g\u03bfogle', '\u0440\u0430ypal', 'a\u0561bc', '\u30ab\uac00', '\u05d0\u0627\u05d1'])(
  '%s mixes scripts',
  (name) => expect(mixesScripts(name)).toBe(true),
);

const NAMES =
  'paypal jürgen_42 Ωμέγα Владимир-1 ゆうきTanaka 山田taro 김철수kim नमस्ते שלום علي 123 cats🐈 ᏣᎳᎩ e\u0301clair'.split(
    ' ',
  );
test.each(NAMES)('%s does not', (name) => expect(mixesScripts(name)).toBe(false));
