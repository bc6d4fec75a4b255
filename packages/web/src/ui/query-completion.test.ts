import { parseQuery } from '@creel/contract';
import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../fixtures/sample-request.ts';
import { complete, completionsAt, knownValuesOf, QUERY_FIELDS } from './query-completion.ts';
import type { KnownValues } from './query-completion.ts';

const KNOWN: KnownValues = {
  methods: ['GET', 'POST', 'PUT'],
  sources: ['GitHub', 'Stripe'],
  events: ['invoice.paid', 'push', 'two words'],
  headers: ['x-github-event', 'x-shop', 'odd:name'],
  parameters: ['page', 'a b'],
};

/** `|` is the caret. */
function at(marked: string): { text: string; caret: number } {
  return { text: marked.replace('|', ''), caret: marked.indexOf('|') };
}

test.each([
  ['me|', ['method:']],
  ['Me|', ['method:']],
  ['method:|', ['GET', 'POST', 'PUT']],
  ['method:p|', ['POST', 'PUT']],
  ['method:POST|', []],
  ['method:GET,p|', ['POST', 'PUT']],
  ['method:GET,PUT,p|', ['POST', 'PUT']],
  ['stri|', ['source:Stripe']],
  ['put|', ['method:PUT']],
  ['-(sou|', ['source:']],
  ['event:t|', ['"two words"']],
  ['event:paid|', ['invoice.paid']],
  ['event:"two w|', ['"two words"']],
  ['header.x|', ['x-github-event:', 'x-shop:']],
  ['header.odd|', ['"odd:name":']],
  ['query.|', ['page:', '"a b":']],
  ['header.x-shop:|', ['*']],
  ['is:un|', ['unsaved']],
  ['size:|', ['>10kb', '>1mb', '<1kb']],
  ['"a me|', []],
  ['say"me|', []],
  [String.raw`"a \" me|`, []],
  ['nothing-like-it|', []],
])('%s suggests %j', (marked, expected) => {
  const { text, caret } = at(marked);
  expect(completionsAt(text, caret, KNOWN).choices.map((choice) => choice.text)).toEqual(expected);
});

test.each([
  ['me|', 'method:|'],
  ['a me| b', 'a method:| b'],
  ['method:p|', 'method:POST |'],
  ['method:p|UX x', 'method:POST| x'],
  ['(method:p|)', '(method:POST|)'],
  ['-method:GET,p|', '-method:GET,POST |'],
  ['event:"two| w" x', 'event:"two words"| x'],
  ['header.x-s|', 'header.x-shop:|'],
  ['stri|', 'source:Stripe |'],
])('the first choice for %s gives %s', (marked, expected) => {
  const { text, caret } = at(marked);
  const completions = completionsAt(text, caret, KNOWN);
  const [choice] = completions.choices;
  const done = choice === undefined ? { text: '', caret: 0 } : complete(text, completions, choice);
  expect(`${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`).toBe(expected);
});

test.each(QUERY_FIELDS)('$text has an example that can be read: $hint', ({ text, hint }) => {
  for (const example of hint.split(' or ')) {
    const parsed = parseQuery(example.startsWith(text) ? example : `${text}${example}`);
    expect(parsed).toMatchObject({ ok: true, unknownFields: [] });
    expect(parsed).not.toMatchObject({ query: { kind: 'text' } });
  }
});

test('known values are in alphabetical order without regard to case', () => {
  const { events, sources } = knownValuesOf([
    sampleRequest(2, { source: 'GitHub', eventType: 'push' }),
    sampleRequest(1, { source: 'Amazon SNS', eventType: 'Notification' }),
    sampleRequest(0, { source: 'GitHub', eventType: 'invoice.paid' }),
  ]);
  expect(events).toEqual(['invoice.paid', 'Notification', 'push']);
  expect(sources).toEqual(['Amazon SNS', 'GitHub']);
});
