// Bundles the server or the command line with all its packages (docs/decisions/0006-server-bundle.md).
// Usage: bundle.ts server|cli FOLDER
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';
import { parseSync } from 'rolldown/utils';
import type { ESTree } from 'rolldown/utils';
import { z } from 'zod';
import { licenseTexts } from './licenses.ts';
import { fromRoot, root } from './paths.mjs';

const commands = readdirSync(fromRoot('packages/cli/src/commands')).filter((file) => !file.endsWith('.test.ts'));

/** Entry points by the name of the file that they become. Commands and threads are loaded by their file name. */
const programs = {
  server: { main: 'packages/server/src/main.ts', admin: 'packages/server/src/admin/main.ts' },
  cli: {
    main: 'packages/cli/src/main.ts',
    ...Object.fromEntries(
      commands.map((file) => [`commands/${file.replace(/\.ts$/, '')}`, `packages/cli/src/commands/${file}`]),
    ),
  },
};
const threads = {
  server: {
    'storage-thread': 'packages/server/src/database/sqlite/thread.ts',
    'scan-thread': 'packages/server/src/database/postgres/scan-thread.ts',
    'replay-thread': 'packages/server/src/features/replay/replay-thread.ts',
  },
  cli: {},
};

/**
 * An import of a built-in module evaluates all its exports. Some of these two load more when they are read, such as undici, which would
 * take a third of the start of every thread. The bundle has their other exports, and loads the module with the first use of one.
 */
const lazyModules = ['crypto', 'http'];
const withLazyModules: Plugin = {
  name: 'with-lazy-modules',
  // Packages import them with and without `node:`.
  resolveId(id) {
    const name = id.replace(/^node:/, '');
    return lazyModules.includes(name) ? `\0node:${name}` : undefined;
  },
  load(id) {
    const name = id.replace('\0node:', '');
    if (!lazyModules.includes(name)) return undefined;
    const values = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
    const exported = values.flatMap(([key, { get, value }]) => {
      if (get !== undefined) return [];
      // Classes begin with a capital letter.
      const isFunction = typeof value === 'function' && /^[a-z]/.test(key);
      const read = isFunction ? `(...given) => all().${key}(...given)` : `/* @__PURE__ */ (() => all().${key})()`;
      return `export const ${key} = ${read};`;
    });
    const code = [
      `let loaded; const all = () => (loaded ??= process.getBuiltinModule('${name}'));`,
      'export default /* @__PURE__ */ all();',
      ...exported,
    ];
    return { code: code.join('\n'), moduleSideEffects: false };
  },
};

/** The first name of `z.object(…).strict()`, which is `z`. */
function firstName(node: ESTree.Expression | ESTree.Super): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'CallExpression') return firstName(node.callee);
  return node.type === 'MemberExpression' ? firstName(node.object) : undefined;
}

/** Marks schemas as free of side effects, so that a bundle has only those that it uses. All would take a fifth of a thread's start. */
const withoutUnusedSchemas: Plugin = {
  name: 'without-unused-schemas',
  transform: {
    filter: { id: /packages.(contract|server).src.*\.ts$/, code: 'Schema' },
    handler(source) {
      const constants = parseSync('source.ts', source).program.body.flatMap((statement) => {
        const { declaration } = statement.type === 'ExportNamedDeclaration' ? statement : { declaration: statement };
        return declaration?.type === 'VariableDeclaration' ? declaration.declarations : [];
      });
      return constants.reduceRight((code, { init }) => {
        if (init?.type !== 'CallExpression' || !/^z$|Schema$/.test(firstName(init) ?? '')) return code;
        const { start, end } = init;
        return `${code.slice(0, start)}/* @__PURE__ */ (() => (${code.slice(start, end)}))()${code.slice(end)}`;
      }, source);
    },
  },
};

const [target, dir] = z.tuple([z.enum(['server', 'cli']), z.string()]).parse(process.argv.slice(2));

async function bundle(input: Readonly<Record<string, string>>, plugins: readonly Plugin[]): Promise<void> {
  const built = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    plugins: [withLazyModules, ...plugins],
    // Optional native parts of pg and ws, which are not installed.
    external: [/^node:(?!crypto$|http$)/, 'pg-native', 'bufferutil', 'utf-8-validate'],
  });
  await built.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' });
}

await bundle(programs[target], []);
// Each thread has a bundle of its own, because a file that it shares with the server has what only the server uses.
for (const [name, file] of Object.entries(threads[target])) await bundle({ [name]: file }, [withoutUnusedSchemas]);
// Here for all bundles and the web app, because every package has the server.
if (target === 'server') writeFileSync(join(dir, 'licenses.txt'), licenseTexts());
