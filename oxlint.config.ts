// Lint rules: common mistakes, sizes, and the import rules of docs/architecture.md. Each import rule has a message that says what to do
// instead, and a test in scripts/import-rules.test.ts. A later entry of `overrides` replaces the same rule of an earlier one, so each entry
// lists all of its patterns.
import { defineConfig } from 'oxlint';
import type { OxlintConfig } from 'oxlint';

interface Banned {
  /** Matched against the import specifier. */
  regex: string;
  /** What to do instead. */
  message: string;
  importNames?: string[];
  allowTypeImports?: boolean;
}

/** Matches what begins with none of these words, whose first characters differ. Rust's regex engine has no look-around. */
function notBeginningWith(...words: readonly string[]): string {
  const others = words.flatMap((word) =>
    [...word].slice(1).map((letter, at) => `${word.slice(0, at + 1)}[^${letter}]`),
  );
  return `([^${words.map((word) => word.charAt(0)).join('')}]|${others.join('|')})`;
}

const catchAllNames: Banned = {
  regex: String.raw`^\.{1,2}/(.*/)?(utils?|helpers?|common|misc|types)(\.tsx?|/|$)`,
  message: 'Name a file after the one thing it is about, not utils, helpers, common, misc or types.',
};
const otherPackages: Banned = {
  regex: String.raw`^@creel/(server|web|cli)(/|$)|^@creel/contract/|^\.\./(.*/)?(contract|server|web|cli)/`,
  message: 'Packages know each other only through @creel/contract. Put what both sides need there.',
};
const allButZod: Banned = {
  regex: `^${notBeginningWith('.', 'zod/')}`,
  message: 'The contract runs in browsers, in the command line and on the server: it imports zod and nothing else.',
};
const sql: Banned = {
  regex: '^(kysely|pg|node:sqlite)(/|$)',
  message: "SQL belongs in database/ and in a feature's queries.ts. Add a query there and call it.",
};
const guarded = 'Only features/replay/ opens connections, behind its guard. Call it, or take the call as an argument.';
/** Ways to open a connection that need no library. */
const sockets: Banned[] = [
  { regex: '^(undici|node:https|node:http2|node:tls|node:dgram|node:dns)(/|$)', message: guarded },
  { regex: '^node:http$', importNames: ['request', 'get', 'ClientRequest', 'default'], message: guarded },
  {
    regex: '^node:net$',
    importNames: ['connect', 'createConnection', 'Socket', 'default'],
    allowTypeImports: true,
    message: guarded,
  },
  { regex: '^ws$', importNames: ['WebSocket', 'default'], allowTypeImports: true, message: guarded },
];
const mailServer: Banned = {
  regex: '^nodemailer(/|$)',
  message: 'Only features/mail/service.ts connects to the mail server. Take the mailer as an argument.',
};
const paymentProvider: Banned = {
  regex: '^stripe(/|$)',
  allowTypeImports: true,
  message: 'Only features/billing/stripe-gateway.ts connects to Stripe. Take the gateway as an argument.',
};
const loginProvider: Banned = {
  regex: '^openid-client(/|$)',
  allowTypeImports: true,
  message: 'Only features/accounts/provider.ts connects to the login provider. Take it as an argument.',
};
/** Every way out of the server. Each has one place that may use it. */
const httpClients: Banned[] = [...sockets, mailServer, paymentProvider, loginProvider];

const processParts: Banned = {
  regex: '^(node:)?process$',
  importNames: ['exit', 'env'],
  message: 'Only main.ts exits and only config.ts reads the environment. Throw, or take the value as an argument.',
};
const featuresBelow: Banned = {
  regex: String.raw`^(\.{1,2}/)(.*/)?features/`,
  message: 'This folder knows no feature. Take what you need as an argument.',
};
const otherFeature = String.raw`^\.\./(\.\./features/)?[a-z-]+/`;
const insideFeature: Banned = {
  regex: otherFeature + notBeginningWith('service.ts', 'queries.ts'),
  message: "Features meet only through each other's service.ts. Add what you need there, or take it as an argument.",
};
const remoteQueries: Banned = {
  regex: String.raw`${otherFeature}queries\.ts$`,
  allowTypeImports: true,
  message: "Queries run in the database's threads. Import the type of another feature's queries, and call the store.",
};
const notQueries: Banned = {
  regex: otherFeature + notBeginningWith('queries.ts'),
  message: "Queries meet only through each other's queries.ts, because the database's threads have no services.",
};
const framework: Banned = {
  regex: '^(fastify|@fastify/.*)$',
  message: 'Only http/ and the routes of a feature know the web framework. Return a value or throw a problem.',
};
const compositionRoot: Banned = {
  regex: String.raw`^(\./|(\.\./)+)(app|main)\.ts$|^(\.\./)+(routes|queries)\.ts$`,
  message: 'Nothing imports the composition root. Take what you need as an argument.',
};
const serverOnly: Banned = {
  regex: '^node:|^(ws|undici)$',
  message: 'This runs in a browser. Use what the platform has, or ask the server.',
};
const noFeature: Banned = {
  regex: String.raw`^\.\./(.*/)?(features|shell)/|^(\.\./)+(main|router)\.tsx$`,
  message: 'bodies/ and ui/ know no feature. Take what you need as a prop or an argument.',
};
const noData: Banned = {
  regex: String.raw`^@tanstack/react-query(/|$)|^\.\./(.*/)?api/`,
  message: 'bodies/ and ui/ have no data. Take it as a prop or an argument.',
};
const bodiesAbove: Banned = {
  regex: String.raw`^\.\./(.*/)?bodies/`,
  message: 'ui/ is the design system: it does not know what is shown with it. Put views of a body in bodies/.',
};
const screens: Banned = {
  // Components are .tsx files: api/ may use the plain functions of bodies/ and ui/.
  regex: String.raw`^\.\./(.*/)?(features|shell)/|\.tsx$`,
  message: 'api/ serves the screens and does not know them. Take what you need as an argument.',
};
const otherFeatures = (up: string): Banned => ({
  regex: String.raw`^${up}[^.]|^\.\./(.*/)?(features|shell)/|^(\.\./)+(main|router)\.tsx$`,
  message: 'Features never import each other or the shell. Move what both need to ui/, bodies/ or api/.',
});
const insides: Banned = {
  regex: '^@creel/(server|web|cli)(/|$)|(^|/)packages/(server|web|cli)/',
  message: "Journeys use Creel from outside, as a person does. Go through the browser or the contract's client.",
};

type Rules = NonNullable<Parameters<typeof defineConfig>[0]['rules']>;

/** Builds the import rule of a folder. */
const imports = (...banned: Banned[]): Rules => ({
  'no-restricted-imports': ['error', { patterns: [catchAllNames, ...banned] }],
});
const serverImports = (...banned: Banned[]) => imports(otherPackages, processParts, ...banned);
const featureImports = (...banned: Banned[]) => serverImports(compositionRoot, insideFeature, remoteQueries, ...banned);
const webImports = (...banned: Banned[]) => imports(otherPackages, serverOnly, ...banned);

const exits = { object: 'process', property: 'exit', message: 'Only main.ts exits. Throw, and let it decide.' };
const environment = {
  object: 'process',
  property: 'env',
  message: 'Only config.ts reads the environment. Add a field there and take it as an argument.',
};
const moduleMocks = {
  object: 'vi',
  property: 'mock',
  message: 'Test files share modules, and a mock does not reach one that is loaded. Replace a function with vi.spyOn.',
};
const bareFetch = {
  name: 'fetch',
  message: 'Only replay/ and other guarded places send requests. Call them, or take the call as an argument.',
};
const bareSockets = ['WebSocket', 'EventSource'].map((name) => ({ name, message: guarded }));
const callsPastTheClient = [
  { name: 'fetch', message: "Calls go through the contract's client. Add a query or a mutation that uses it." },
  {
    name: 'XMLHttpRequest',
    message: "Calls go through the contract's client. Add a query or a mutation that uses it.",
  },
  { name: 'WebSocket', message: "The live connection is the contract's live client. Use it from api/." },
];

/** Rules for all files. */
const rules: Rules = {
  ...imports(),
  'typescript/no-explicit-any': 'error',
  'typescript/ban-ts-comment': 'error',
  'typescript/no-non-null-assertion': 'error',
  'typescript/consistent-type-imports': 'error',
  // Node's names for the methods that implement a stream.
  'no-underscore-dangle': ['error', { allow: ['_write', '_writev'] }],
  eqeqeq: 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack', 'for now'], location: 'anywhere' }],
  'max-lines': ['error', { max: 400 }],
  'max-lines-per-function': ['error', { max: 50 }],
  'import/no-default-export': 'error',
  'import/no-cycle': ['error', { ignoreTypes: false }],
  'unicorn/filename-case': ['error', { case: 'kebabCase' }],
  // The JSX transform adds its own imports.
  'react/react-in-jsx-scope': 'off',
  'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
  // These rules cause more code than they prevent mistakes.
  'promise/always-return': 'off',
  'jsx-a11y/prefer-tag-over-role': 'off',
  'unicorn/consistent-function-scoping': 'off',
  'unicorn/prefer-add-event-listener': 'off',
  'import/no-named-as-default-member': 'off',
  'import/no-named-as-default': 'off',
  'no-unmodified-loop-condition': 'off',
};

const server = 'packages/server/src';
const web = 'packages/web/src';

const config: OxlintConfig = defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'react', 'jsx-a11y', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  options: { reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['**/dist/**', '**/node_modules/**', 'test-results/**', '.cache/**'],
  rules,
  overrides: [
    { files: ['packages/contract/src/**'], rules: imports(otherPackages, allButZod) },
    { files: ['packages/cli/src/**'], rules: imports(otherPackages) },
    {
      files: [`${server}/**`],
      rules: {
        ...serverImports(sql, ...httpClients),
        'no-console': 'error',
        'no-restricted-properties': ['error', exits, environment],
        'no-restricted-globals': ['error', bareFetch, ...bareSockets],
      },
    },
    // main.ts exits, and passes the environment to config.ts.
    { files: [`${server}/main.ts`], rules: { 'no-restricted-properties': 'off' } },
    { files: [`${server}/config.ts`], rules: { 'no-restricted-properties': ['error', exits] } },
    // `creel admin` works on the files and the schema of both databases, beside or without a server.
    { files: [`${server}/admin/*`], rules: serverImports(...httpClients, compositionRoot, framework) },
    { files: [`${server}/admin/main.ts`], rules: { 'no-restricted-properties': ['error', exits] } },
    // The composition root and the process around it.
    { files: [`${server}/{app,main}.ts`], rules: serverImports(sql, ...httpClients) },
    // The rule is about windows. The postMessage of a thread has no target origin.
    {
      files: [`${server}/database/**`],
      rules: {
        ...serverImports(...httpClients, featuresBelow, framework, compositionRoot),
        'unicorn/require-post-message-target-origin': 'off',
      },
    },
    // Its connection can be cut off while statements are not answered. It leads to the configured database only.
    {
      files: [`${server}/database/postgres/capture-connection.ts`],
      rules: serverImports(featuresBelow, framework, compositionRoot, mailServer, paymentProvider, loginProvider),
    },
    // The threads of a database find the queries in the registry.
    { files: [`${server}/database/*/*thread.ts`], rules: serverImports(...httpClients, featuresBelow, framework) },
    // A migration is one list of statements.
    { files: [`${server}/database/migrations/*`], rules: { 'max-lines-per-function': 'off' } },
    { files: [`${server}/http/**`], rules: serverImports(sql, ...httpClients, featuresBelow, compositionRoot) },
    {
      files: [`${server}/{limits,workers}/**`],
      rules: serverImports(sql, ...httpClients, featuresBelow, framework, compositionRoot),
    },
    // LISTEN and NOTIFY are SQL too.
    {
      files: [`${server}/bus/**`],
      rules: serverImports(...httpClients, featuresBelow, framework, compositionRoot),
    },
    { files: [`${server}/features/**`], rules: featureImports(sql, ...httpClients, framework) },
    {
      files: [`${server}/features/**/{routes,*-routes}.ts`],
      rules: featureImports(sql, ...httpClients),
    },
    {
      files: [`${server}/features/*/{queries,*-queries}.ts`],
      rules: serverImports(...httpClients, compositionRoot, notQueries),
    },
    // The operator configures the URLs of the login provider and of Stripe. These two files limit their responses.
    {
      files: [`${server}/features/accounts/provider.ts`],
      rules: {
        ...featureImports(sql, ...sockets, mailServer, paymentProvider, framework),
        'no-restricted-globals': 'off',
      },
    },
    {
      files: [`${server}/features/mail/service.ts`],
      rules: featureImports(sql, ...sockets, paymentProvider, loginProvider, framework),
    },
    {
      files: [`${server}/features/billing/stripe-gateway.ts`],
      rules: {
        ...featureImports(sql, ...sockets, mailServer, loginProvider, framework),
        'no-restricted-globals': 'off',
      },
    },
    {
      files: [`${server}/features/replay/**`],
      rules: {
        ...featureImports(sql, mailServer, paymentProvider, loginProvider, framework),
        'no-restricted-globals': 'off',
      },
    },
    {
      files: [`${server}/features/replay/routes.ts`],
      rules: featureImports(sql, mailServer, paymentProvider, loginProvider),
    },
    {
      files: [`${web}/**`],
      rules: { ...webImports(), 'no-console': 'error', 'no-restricted-globals': ['error', ...callsPastTheClient] },
    },
    { files: [`${web}/**/*.tsx`], rules: { 'max-lines-per-function': ['error', { max: 120 }] } },
    { files: [`${web}/bodies/**`], rules: webImports(noFeature, noData) },
    { files: [`${web}/ui/**`], rules: webImports(noFeature, noData, bodiesAbove) },
    { files: [`${web}/api/**`], rules: { ...webImports(screens), 'no-restricted-globals': 'off' } },
    { files: [`${web}/features/*/**`], rules: webImports(otherFeatures(String.raw`\.\./`)) },
    { files: [`${web}/features/*/*/**`], rules: webImports(otherFeatures(String.raw`\.\./\.\./`)) },
    {
      // `test/` contains helpers that the tests of a package share.
      files: ['**/*.{test,suite,spec}.{ts,tsx,mjs}', '**/test/**'],
      rules: {
        ...imports(otherPackages),
        // Functions whose names begin with `expect` contain assertions.
        'vitest/expect-expect': ['error', { assertFunctionNames: ['expect*'] }],
        'max-lines-per-function': 'off',
        'no-console': 'off',
        'no-restricted-globals': 'off',
        'no-restricted-properties': ['error', moduleMocks],
      },
    },
    // These scripts must run in old browsers, and they set names that libraries define.
    { files: ['packages/web/public/**'], rules: { 'no-var': 'off', 'no-underscore-dangle': 'off' } },
    { files: ['e2e/**'], rules: imports(insides) },
    { files: ['*.config.ts', 'scripts/vitest-skip-reporter.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});

export default config;
