import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const sql = "SQL belongs in database/ and in a feature's queries.ts. Add a query there and call it.";
const guarded = 'Only features/replay/ opens connections, behind its guard. Call it, or take the call as an argument.';
const mailServer = 'Only features/mail/service.ts connects to the mail server. Take the mailer as an argument.';
const stripe = 'Only features/billing/stripe-gateway.ts connects to Stripe. Take the gateway as an argument.';
const oidc = 'Only features/accounts/provider.ts connects to the login provider. Take it as an argument.';
const services =
  "Features meet only through each other's service.ts. Add what you need there, or take it as an argument.";
const remoteQueries =
  "Queries run in the database's threads. Import the type of another feature's queries, and call the store.";
const noServices =
  "Queries meet only through each other's queries.ts, because the database's threads have no services.";
const packages = 'Packages know each other only through @creel/contract. Put what both sides need there.';
const noFeature = 'This folder knows no feature. Take what you need as an argument.';
const noFramework = 'Only http/ and the routes of a feature know the web framework. Return a value or throw a problem.';
const noRoot = 'Nothing imports the composition root. Take what you need as an argument.';
const zodOnly =
  'The contract runs in browsers, in the command line and on the server: it imports zod and nothing else.';
const catchAllName = 'Name a file after the one thing it is about, not utils, helpers, common, misc or types.';
const webFeature = 'bodies/ and ui/ know no feature. Take what you need as a prop or an argument.';
const noData = 'bodies/ and ui/ have no data. Take it as a prop or an argument.';
const noBodies = 'ui/ is the design system: it does not know what is shown with it. Put views of a body in bodies/.';
const features = 'Features never import each other or the shell. Move what both need to ui/, bodies/ or api/.';
const browser = 'This runs in a browser. Use what the platform has, or ask the server.';
const client = "Calls go through the contract's client. Add a query or a mutation that uses it.";
const noScreens = 'api/ serves the screens and does not know them. Take what you need as an argument.';
const outside = "Journeys use Creel from outside, as a person does. Go through the browser or the contract's client.";
const noMocks =
  'Test files share modules, and a mock does not reach one that is loaded. Replace a function with vi.spyOn.';
const noExit = 'Only main.ts exits. Throw, and let it decide.';
const noEnvironment = 'Only config.ts reads the environment. Add a field there and take it as an argument.';
const noFetch = 'Only replay/ and other guarded places send requests. Call them, or take the call as an argument.';

const use = (from: string) => `import { thing } from '${from}';\nexport const used = thing;\n`;
const useType = (from: string) => `import type { Thing } from '${from}';\nexport type Used = Thing;\n`;

/** The file, its text, and the expected message. Without a message, the text is allowed. */
const cases: [file: string, text: string, sentence?: string][] = [
  ['packages/contract/src/a.ts', use('zod')],
  ['packages/contract/src/a.ts', use('./endpoint.ts')],
  ['packages/contract/src/operations/a.ts', use('../endpoint.ts')],
  ['packages/contract/src/a.ts', use('node:crypto'), zodOnly],
  ['packages/contract/src/a.ts', use('ws'), zodOnly],
  ['packages/contract/src/a.ts', use('zoo'), zodOnly],
  ['packages/contract/src/a.ts', use('../../server/src/store.ts'), packages],
  ['packages/server/src/http/a.ts', use('@creel/contract')],
  ['packages/server/src/http/a.ts', use('@creel/web'), packages],
  ['packages/server/src/http/a.ts', use('../../../web/src/main.tsx'), packages],
  ['packages/server/src/http/a.ts', use('@creel/contract/src/plan.ts'), packages],
  ['packages/web/src/shell/a.ts', use('@creel/server'), packages],
  ['packages/cli/src/a.ts', use('@creel/server'), packages],
  ['packages/cli/src/a.ts', use('../../server/src/store.ts'), packages],
  ['packages/server/src/http/a.ts', use('../utils.ts'), catchAllName],
  ['packages/web/src/shell/a.ts', use('../helpers/dates.ts'), catchAllName],

  ['packages/server/src/database/sqlite/a.ts', use('node:sqlite')],
  ['packages/server/src/database/postgres/a.ts', use('pg')],
  ['packages/server/src/database/a.ts', use('kysely')],
  ['packages/server/src/features/billing/service.ts', use('./queries.ts')],
  ['packages/server/src/features/billing/service.ts', use('../../queries.ts'), noRoot],
  ['packages/server/src/http/a.ts', use('../queries.ts'), noRoot],
  ['packages/server/src/database/sqlite/a.ts', use('../../queries.ts'), noRoot],
  ['packages/server/src/database/sqlite/thread.ts', use('../../queries.ts')],
  ['packages/server/src/features/billing/queries.ts', use('kysely')],
  ['packages/server/src/features/accounts/token-queries.ts', use('kysely')],
  ['packages/server/src/bus/a.ts', use('pg')],
  ['packages/server/src/bus/a.ts', use('../features/live/service.ts'), noFeature],
  ['packages/server/src/bus/a.ts', use('fastify'), noFramework],
  ['packages/server/src/bus/a.ts', use('../app.ts'), noRoot],
  ['packages/server/src/http/a.ts', use('kysely'), sql],
  ['packages/server/src/features/capture/a.ts', use('node:sqlite'), sql],
  ['packages/server/src/features/billing/service.ts', use('kysely'), sql],
  ['packages/server/src/features/replay/a.ts', use('pg'), sql],
  ['packages/server/src/main.ts', use('pg'), sql],
  ['packages/server/src/limits/a.ts', use('pg'), sql],
  ['packages/server/src/features/accounts/a.ts', `export const later = () => import('kysely');\n`, sql],
  [
    'packages/server/src/features/accounts/a.ts',
    `import type { Kysely } from 'kysely';\nexport type A = Kysely<never>;\n`,
    sql,
  ],

  ['packages/server/src/database/sqlite/a.ts', use('../../features/capture/service.ts'), noFeature],
  ['packages/server/src/database/a.ts', use('../features/requests/queries.ts'), noFeature],
  ['packages/server/src/http/a.ts', use('../features/live/live-socket.ts'), noFeature],
  ['packages/server/src/limits/a.ts', use('../features/replay/service.ts'), noFeature],
  ['packages/server/src/workers/a.ts', use('../features/replay/service.ts'), noFeature],
  ['packages/server/src/queries.ts', use('./features/billing/queries.ts')],
  ['packages/server/src/features/capture/a.ts', use('../../database/store.ts')],

  ['packages/server/src/features/live/a.ts', use('../accounts/service.ts')],
  ['packages/server/src/features/live/a.ts', use('../accounts/sessions.ts'), services],
  ['packages/server/src/features/live/a.ts', use('../../features/accounts/sessions.ts'), services],
  ['packages/server/src/features/live/a.ts', useType('../accounts/sessions.ts'), services],
  ['packages/server/src/features/live/a.ts', use('../accounts/token-queries.ts'), services],
  ['packages/server/src/features/live/a.ts', use('../accounts/queries.ts'), remoteQueries],
  ['packages/server/src/features/live/a.ts', useType('../accounts/queries.ts')],
  ['packages/server/src/features/live/a.ts', use('./live-state.ts')],
  ['packages/server/src/features/live/routes.ts', use('../accounts/service.ts')],
  ['packages/server/src/features/live/routes.ts', use('../accounts/sessions.ts'), services],
  ['packages/server/src/features/live/queries.ts', use('../accounts/queries.ts')],
  ['packages/server/src/features/live/queries.ts', use('../../database/remote.ts')],
  ['packages/server/src/features/live/queries.ts', use('./live-queries.ts')],
  ['packages/server/src/features/live/queries.ts', use('../accounts/token-queries.ts'), noServices],
  ['packages/server/src/features/live/queries.ts', useType('../accounts/service.ts'), noServices],
  ['packages/server/src/features/replay/a.ts', use('../live/live-state.ts'), services],
  ['packages/server/src/features/replay/routes.ts', use('../live/live-state.ts'), services],
  ['packages/server/src/features/mail/service.ts', use('../live/live-state.ts'), services],
  ['packages/server/src/features/billing/stripe-gateway.ts', use('../live/live-state.ts'), services],
  ['packages/server/src/features/accounts/provider.ts', use('../live/live-state.ts'), services],

  ['packages/server/src/http/a.ts', use('fastify')],
  ['packages/server/src/features/billing/routes.ts', use('fastify')],
  ['packages/server/src/database/a.ts', use('fastify'), noFramework],
  ['packages/server/src/limits/a.ts', use('fastify'), noFramework],
  ['packages/server/src/features/capture/a.ts', use('fastify'), noFramework],
  ['packages/server/src/features/replay/a.ts', use('@fastify/cookie'), noFramework],

  ['packages/server/src/main.ts', use('./app.ts')],
  ['packages/server/src/database/a.ts', use('../app.ts'), noRoot],
  ['packages/server/src/http/a.ts', use('../routes.ts'), noRoot],
  ['packages/server/src/features/mail/a.ts', use('../../main.ts'), noRoot],
  ['packages/server/src/features/mail/routes.ts', use('../../app.ts'), noRoot],
  ['packages/server/src/features/mail/queries.ts', use('../../app.ts'), noRoot],

  ['packages/server/src/features/replay/a.ts', use('undici')],
  ['packages/server/src/features/replay/a.ts', `export const got = await fetch('http://127.0.0.1/');\n`],
  ['packages/server/src/http/a.ts', use('undici'), guarded],
  ['packages/server/src/database/a.ts', use('undici'), guarded],
  ['packages/server/src/features/mail/a.ts', use('node:https'), guarded],
  ['packages/server/src/features/mail/queries.ts', use('node:https'), guarded],
  ['packages/server/src/http/a.ts', `export { request } from 'node:http';\n`, guarded],
  ['packages/server/src/http/a.ts', `export { createServer } from 'node:http';\n`],
  ['packages/server/src/features/deliveries/a.ts', use('node:tls'), guarded],
  ['packages/server/src/features/deliveries/a.ts', use('node:dns/promises'), guarded],
  ['packages/server/src/features/deliveries/a.ts', `export { connect } from 'node:net';\n`, guarded],
  [
    'packages/server/src/features/deliveries/a.ts',
    `import { Socket } from 'node:net';\nexport const socket = new Socket();\n`,
    guarded,
  ],
  [
    'packages/server/src/features/deliveries/a.ts',
    `import type { Socket } from 'node:net';\nexport type A = Socket;\n`,
  ],
  ['packages/server/src/features/deliveries/a.ts', `export { isIP } from 'node:net';\n`],
  ['packages/server/src/features/live/a.ts', `export { WebSocketServer } from 'ws';\n`],
  ['packages/server/src/features/live/a.ts', `export { WebSocket } from 'ws';\n`, guarded],
  [
    'packages/server/src/features/deliveries/a.ts',
    `export const socket = new WebSocket('ws://127.0.0.1/');\n`,
    guarded,
  ],
  ['packages/server/src/features/replay/a.ts', use('node:tls')],
  ['packages/server/src/features/replay/a.ts', use('nodemailer'), mailServer],
  ['packages/server/src/features/deliveries/a.ts', use('nodemailer'), mailServer],
  ['packages/server/src/features/mail/service.ts', use('nodemailer')],
  ['packages/server/src/features/mail/service.ts', use('node:net')],
  ['packages/server/src/features/mail/service.ts', use('node:tls'), guarded],
  ['packages/server/src/features/billing/service.ts', use('stripe'), stripe],
  ['packages/server/src/features/billing/stripe-gateway.ts', use('stripe')],
  ['packages/server/src/features/accounts/a.ts', use('openid-client'), oidc],
  ['packages/server/src/features/accounts/provider.ts', use('openid-client')],
  ['packages/server/src/features/accounts/a.ts', `export const got = await fetch('http://127.0.0.1/');\n`, noFetch],
  ['packages/server/src/features/accounts/provider.ts', `export const got = await fetch('http://127.0.0.1/');\n`],
  ['packages/server/src/features/billing/stripe-gateway.ts', `export const got = await fetch('http://127.0.0.1/');\n`],

  ['packages/server/src/http/a.ts', `export const end = () => process.exit(1);\n`, noExit],
  ['packages/server/src/config.ts', `export const end = () => process.exit(1);\n`, noExit],
  ['packages/server/src/main.ts', `export const end = () => process.exit(1);\n`],
  ['packages/server/src/main.ts', `export const all = process.env;\n`],
  ['packages/server/src/http/a.test.ts', `vi.mock('node:fs');\n`, noMocks],
  ['packages/server/src/http/a.test.ts', `vi.spyOn(process, 'exit');\n`],
  ['packages/server/src/features/mail/a.ts', `export const port = process.env['PORT'];\n`, noEnvironment],
  ['packages/server/src/config.ts', `export const port = process.env['PORT'];\n`],

  ['packages/web/src/bodies/a.ts', use('@creel/contract')],
  ['packages/web/src/bodies/a.tsx', use('../ui/button.tsx')],
  ['packages/web/src/bodies/a.tsx', use('../features/requests/b.tsx'), webFeature],
  ['packages/web/src/bodies/a.tsx', use('../shell/sidebar.tsx'), webFeature],
  ['packages/web/src/bodies/a.ts', use('../router.tsx'), webFeature],
  ['packages/web/src/bodies/a.ts', use('../api/queries.ts'), noData],
  ['packages/web/src/bodies/a.ts', use('@tanstack/react-query'), noData],
  ['packages/web/src/ui/a.tsx', use('react')],
  ['packages/web/src/ui/a.tsx', use('../features/requests/b.tsx'), webFeature],
  ['packages/web/src/ui/a.tsx', use('../shell/sidebar.tsx'), webFeature],
  ['packages/web/src/ui/a.tsx', use('../api/queries.ts'), noData],
  ['packages/web/src/ui/a.tsx', use('@tanstack/react-query'), noData],
  ['packages/web/src/ui/a.tsx', use('../bodies/json-view.tsx'), noBodies],
  ['packages/web/src/api/a.ts', use('../bodies/view-body.ts')],
  ['packages/web/src/api/a.ts', use('../ui/state.ts')],
  ['packages/web/src/api/a.ts', use('../ui/button.tsx'), noScreens],
  ['packages/web/src/api/a.ts', use('../shell/sidebar.tsx'), noScreens],
  ['packages/web/src/api/a.ts', use('../features/accounts/login.ts'), noScreens],
  ['packages/web/src/shell/a.tsx', use('../features/endpoints/b.tsx')],
  ['packages/web/src/features/endpoint/a.tsx', use('./b.tsx')],
  ['packages/web/src/features/endpoint/a.tsx', use('../../ui/button.tsx')],
  ['packages/web/src/features/endpoint/a.tsx', use('../auth/form.tsx'), features],
  ['packages/web/src/features/endpoint/a.tsx', use('../../features/auth/form.tsx'), features],
  ['packages/web/src/features/endpoint/a.tsx', use('../../bodies/json-view.tsx')],
  ['packages/web/src/features/endpoint/a.tsx', use('../../shell/sidebar.tsx'), features],
  ['packages/web/src/features/endpoint/a.tsx', use('../../router.tsx'), features],
  ['packages/web/src/features/endpoint/details/a.tsx', use('../b.tsx')],
  ['packages/web/src/features/endpoint/details/a.tsx', use('../../../ui/button.tsx')],
  ['packages/web/src/features/endpoint/details/a.tsx', use('../../auth/form.tsx'), features],
  ['packages/web/src/shell/a.tsx', use('node:path'), browser],
  ['packages/web/src/features/endpoint/a.tsx', `export const got = await fetch('/api/user');\n`, client],
  ['packages/web/src/api/a.ts', `export const got = await fetch('/api/user');\n`],

  ['e2e/a.spec.ts', use('@creel/contract')],
  ['e2e/a.spec.ts', use('../packages/server/src/config.ts'), outside],
];

const reportSchema = z.object({
  diagnostics: z.array(z.object({ help: z.string().optional(), message: z.string(), filename: z.string() })),
});

const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
let clone: string;
/** oxlint's messages by case number. */
const refusals = new Map<number, string>();

/** Lints a small clone with the given cases, each in a separate file, and records the messages about each. */
function lint(name: string, chosen: number[]): void {
  const home = join(clone, name);
  const owners = new Map<string, number>();
  for (const index of chosen) {
    const [file, text] = cases[index] ?? ['', ''];
    const own = file.replace(/\/a(\.(?:spec\.)?tsx?)$/, `/case-${index}$1`);
    mkdirSync(dirname(join(home, own)), { recursive: true });
    writeFileSync(join(home, own), text);
    owners.set(own, index);
  }
  cpSync(join(root, 'oxlint.config.ts'), join(home, 'oxlint.config.ts'));
  const run = spawnSync(process.execPath, [oxlint, '--format=json', '.'], { cwd: home, encoding: 'utf8' });
  for (const { filename, message, help } of reportSchema.parse(JSON.parse(run.stdout)).diagnostics) {
    const index = owners.get(filename) ?? -1;
    refusals.set(index, `${refusals.get(index) ?? ''}${message} ${help}\n`);
  }
}

/**
 * Cases with different files share one clone. The others, such as main.ts, share a clone with the cases of other files.
 */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'creel-import-rules-'));
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const all = cases.map((_, index) => index);
  const named = all.filter((index) => !/\/a\.(spec\.)?tsx?$/.test(cases[index]?.[0] ?? ''));
  lint(
    'shared',
    all.filter((index) => !named.includes(index)),
  );
  const before = (index: number): number[] =>
    named.filter((other) => other < index && cases[other]?.[0] === cases[index]?.[0]);
  for (const [nth, chosen] of Map.groupBy(named, (index) => before(index).length)) lint(`named-${nth}`, chosen);
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

test.for(cases.map((one, index) => ({ one, index, said: one[2] ?? 'is allowed' })))(
  '$index: $one.0: $said',
  ({ one: [, , sentence], index }) => {
    const said = refusals.get(index) ?? 'is allowed';
    expect(said).toContain(sentence ?? 'is allowed');
  },
);
