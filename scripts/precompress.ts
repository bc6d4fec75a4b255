import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** Text files. Fonts and images are compressed already. */
const TEXT = /\.(?:js|css|svg)$/;
/** Smaller files fit into one packet without compression. */
const MIN_BYTES = 1000;

/**
 * Writes a `.br` and a `.gz` file next to every large text file of the build. The server sends them without compressing anything while
 * it captures requests.
 */
export function precompress(): Plugin {
  return {
    name: 'creel-precompress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      // Not the names in the bundle, which lack the files that are copied.
      const names = (await readdir(dir, { recursive: true })).filter((name) => TEXT.test(name));
      await Promise.all(names.map((name) => compressFile(join(dir, name))));
    },
  };
}

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  if (bytes.length < MIN_BYTES) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }));
}
