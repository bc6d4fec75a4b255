import { expect, test } from 'vitest';
import { xmlColors, formatXml } from './xml.ts';

const colored = (text: string) => xmlColors(text).map(({ start, end, color }) => `${color} ${text.slice(start, end)}`);

test('tags, attributes, comments and sections have their colors, text has none', () => {
  expect(colored(`<?xml version="1.0"?><a b = 'c>d' e="f">text<!-- g --><![CDATA[<h>]]><i/></a>`)).toEqual([
    'quiet <?xml version="1.0"?>',
    'name <a',
    'attribute b',
    "string 'c>d'",
    'attribute e',
    'string "f"',
    'name >',
    'quiet <!-- g -->',
    'string <![CDATA[<h>]]>',
    'name <i',
    'name />',
    'name </a',
    'name >',
  ]);
});

test('ranges are sorted and do not overlap, also in broken XML', () => {
  for (const text of ['<a <b c="d>', '<', '<a b="c" "d"=e>', '</ a><>', 'a < b', '<!DOCTYPE a [<!ENTITY b "c">]>']) {
    let at = 0;
    for (const { start, end } of xmlColors(text)) {
      expect(start).toBeGreaterThanOrEqual(at);
      expect(end).toBeGreaterThan(start);
      at = end;
    }
    expect(at).toBeLessThanOrEqual(text.length);
  }
});

test.each([
  [
    'elements',
    '<?xml version="1.0"?><a><b x="1>2">t</b><c/><d></d></a>',
    '<?xml version="1.0"?>\n<a>\n  <b x="1>2">t</b>\n  <c/>\n  <d></d>\n</a>',
  ],
  [
    'CDATA and comments',
    '<a><!-- <x> --><b><![CDATA[<y>]]></b></a>',
    '<a>\n  <!-- <x> -->\n  <b><![CDATA[<y>]]></b>\n</a>',
  ],
  ['mixed content stays as it came', '<p>one <b>two</b></p>', undefined],
  ['broken nesting', '<a><b></a></b>', undefined],
  ['an open end', '<a>', undefined],
  ['no XML', 'hello', undefined],
])('XML: %s', (_, text, lines) => expect(formatXml(text)).toBe(lines));
