// The licenses of the libraries in the bundles. Most of them require that every copy has their text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fromRoot } from './paths.mjs';

const entrySchema = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
});
const lockfileSchema = z.object({ packages: z.record(z.string(), entrySchema) });

interface Library {
  readonly folder: string;
  /** Name and version. */
  readonly title: string;
  /** The name of the license; `unknown` if the package has none. */
  readonly license: string;
}

/** Every library that the server, the web app or the command line may contain, from the lockfile. */
export function listLibraries(): Library[] {
  const { packages } = lockfileSchema.parse(JSON.parse(readFileSync(fromRoot('package-lock.json'), 'utf8')));
  return Object.entries(packages).flatMap(([path, { version, license = 'unknown', ...entry }]) => {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    const isLeftOut = entry.link || entry.dev || entry.optional || entry.devOptional;
    return name === undefined || isLeftOut ? [] : [{ folder: fromRoot(path), title: `${name} ${version}`, license }];
  });
}

/** One text with the license of each library. */
export function licenseTexts(): string {
  const texts = listLibraries().map(({ folder, title, license }) => {
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const contents = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${title} (${license})`, ...contents].join('\n\n');
  });
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
