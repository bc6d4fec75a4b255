import { expect, it } from 'vitest';
import { licenseTexts, listLibraries } from './licenses.ts';

/** None of these asks for the source of what contains the library. */
const ACCEPTED = ['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'OFL-1.1', 'Unlicense'];

it('accepts the license of every library', () => {
  expect(listLibraries().filter(({ license }) => !ACCEPTED.includes(license))).toEqual([]);
});

it('has the texts of the libraries of the server and the web app', () => {
  const titles = listLibraries().map(({ title }) => title.split(' ')[0]);
  expect(titles).toEqual(expect.arrayContaining(['fastify', 'pg', 'react']));
  const texts = licenseTexts();
  for (const { title } of listLibraries()) expect(texts).toContain(`${title} (`);
  expect(texts).toMatch(/fastify [\d.]+ \(MIT\)\n\nMIT License\n\nCopyright/);
});
