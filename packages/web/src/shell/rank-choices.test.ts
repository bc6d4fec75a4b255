import { expect, test } from 'vitest';
import { rankChoices } from './rank-choices.ts';

const choices = [
  { title: 'New endpoint', hint: 'General' },
  { title: 'Dashboard', hint: 'Go to' },
  { title: 'Stripe billing', hint: 'Endpoint' },
  { title: 'Billing of Stripe', hint: 'Endpoint' },
];
const titles = (query: string): string[] => rankChoices(choices, query).map(({ title }) => title);

test('an empty query returns everything in order', () => {
  expect(titles('  ')).toEqual(choices.map(({ title }) => title));
});

test('every word must match the title or heading; prefix matches come first', () => {
  expect(titles('bill')).toEqual(['Billing of Stripe', 'Stripe billing']);
  expect(titles('stripe END')).toEqual(['Stripe billing', 'Billing of Stripe']);
  expect(titles('endpoint')).toEqual(['New endpoint', 'Stripe billing', 'Billing of Stripe']);
  expect(titles('nothing')).toEqual([]);
});
