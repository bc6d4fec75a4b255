import { expect, test } from 'vitest';
import { excerpt, highlightParts } from './highlight.ts';

const marked = (text: string, query: string): string =>
  highlightParts(text, query)
    .map((part) => (part.hit ? `[${part.text}]` : part.text))
    .join('');

test.each([
  ['refs/heads/main', 'HEADS', 'refs/[heads]/main'],
  ['aaa', 'a', '[a][a][a]'],
  ['abab', 'ab', '[ab][ab]'],
  ['nothing', 'x', 'nothing'],
  ['text', '', 'text'],
  ['', 'x', ''],
  ['a.c abc', 'a.c', '[a.c] abc'],
  ['<b>', '<', '[<]b>'],
  // Only ASCII is folded, like the search on the server, so that positions don't change.
  ['İstanbul ISTANBUL', 'istanbul', 'İstanbul [ISTANBUL]'],
  ['Äpfel äpfel', 'äpfel', 'Äpfel [äpfel]'],
  ['שלום webhook', 'WEBHOOK', 'שלום [webhook]'],
])('%s, searched for %s', (text, query, expected) => {
  expect(marked(text, query)).toBe(expected);
});

test('an excerpt is one line around the first match, with ellipses', () => {
  expect(excerpt('short hit', 'HIT')).toBe('short hit');
  expect(excerpt(`${'a'.repeat(100)}hit${'b'.repeat(300)}`, 'hit')).toBe(`…${'a'.repeat(16)}hit${'b'.repeat(160)}…`);
  expect(excerpt('one\n\n  two', 'two')).toBe('one two');
  expect(excerpt('nothing', 'x')).toBeUndefined();
});
