import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** Files that are made of text. Fonts and pictures are compressed already. */
const TEXT = /\.(?:js|css|svg)$/;
/** What fits into one packet anyway is not worth a second file. */
const LEAST_BYTES = 1000;

/**
 * Writes `.br` and `.gz` beside every large text file of the build, so that the server sends them as they are (pages.ts):
 * a third of the bytes, and nothing to compute while captures come in.
 */
export function precompress(): Plugin {
  return {
    name: 'creel-precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      await Promise.all(
        Object.keys(bundle)
          .filter((name) => TEXT.test(name))
          .map((name) => compressFile(join(dir, name))),
      );
    },
  };
}

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  if (bytes.length < LEAST_BYTES) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }));
}
