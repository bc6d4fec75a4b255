import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UsageError } from './cli-error.ts';
import { COMMANDS, parse } from './run.ts';

/** An invocation as plain data, with commands as their names. */
function parsed(line: string): unknown {
  const invocation = parse(words(line));
  if (invocation.kind === 'run')
    return { kind: 'run', invocation: { command: invocation.command.name, ...invocation.input } };
  if (invocation.kind === 'help' && invocation.command !== undefined)
    return { kind: 'help', about: invocation.command.name };
  return invocation;
}

const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');
const DASHED = '-_FvDP6FJB2ndGA0EM64K_';
const DOUBLE = '--FvDP6FJB2ndGA0EM64K_';

const understood: [line: string, invocation: object][] = [
  ['login', { command: 'login' }],
  ['login --server https://a.example --username al', { command: 'login', server: 'https://a.example', username: 'al' }],
  ['login --username=-al', { command: 'login', username: '-al' }],
  ['logout', { command: 'logout' }],
  ['endpoints', { command: 'endpoints', json: false }],
  ['endpoints --json', { command: 'endpoints', json: true }],
  ['create', { command: 'create' }],
  ['create --name hook', { command: 'create', name: 'hook' }],
  ['requests a', { command: 'requests', endpoint: 'a', json: false }],
  ['requests --limit 2 a --before=0', { command: 'requests', endpoint: 'a', json: false, limit: 2, before: 0 }],
  ['requests a --query method:POST', { command: 'requests', endpoint: 'a', json: false, query: 'method:POST' }],
  ['follow a --query -is:saved', { command: 'follow', endpoint: 'a', json: false, query: '-is:saved' }],
  ['follow a --query=-is:saved', { command: 'follow', endpoint: 'a', json: false, query: '-is:saved' }],
  [
    'forward a b --query x',
    { command: 'forward', endpoint: 'a', url: ['b'], new: false, retry: 0, json: false, query: 'x' },
  ],
  [
    'forward a b c --retry 3',
    { command: 'forward', endpoint: 'a', url: ['b', 'c'], new: false, retry: 3, json: false },
  ],
  ['forward --new b', { command: 'forward', endpoint: 'b', url: [], new: true, retry: 0, json: false }],
  ['follow a', { command: 'follow', endpoint: 'a', json: false }],
  ['follow --json a --from 7', { command: 'follow', endpoint: 'a', json: true, from: 7 }],
  ['follow -- -a', { command: 'follow', endpoint: '-a', json: false }],
  [`follow ${DASHED}`, { command: 'follow', endpoint: DASHED, json: false }],
  [`show ${DOUBLE} 3`, { command: 'show', endpoint: DOUBLE, index: 3, json: false }],
  ['show a 0 --json', { command: 'show', endpoint: 'a', index: 0, json: true }],
  ['body a 12', { command: 'body', endpoint: 'a', index: 12, force: false }],
  ['body a 12 --output f --force', { command: 'body', endpoint: 'a', index: 12, output: 'f', force: true }],
];

test.each(understood)('creel %s', (line, invocation) => {
  expect(parsed(line)).toEqual({ kind: 'run', invocation });
});

const asked: [line: string, asked: object][] = [
  ['', { kind: 'help' }],
  ['--help', { kind: 'help' }],
  ['-h', { kind: 'help' }],
  ['help', { kind: 'help' }],
  ['help follow', { kind: 'help', about: 'follow' }],
  ['follow --help', { kind: 'help', about: 'follow' }],
  ['body -h a', { kind: 'help', about: 'body' }],
  ['--version', { kind: 'version' }],
  ['-v', { kind: 'version' }],
  ['-V', { kind: 'version' }],
];

test.each(asked)('creel %s', (line, is) => {
  expect(parsed(line)).toEqual(is);
});

const refused: [line: string, sentence: string][] = [
  ['fetch', 'There is no command “fetch”. See: creel --help'],
  ['toString', 'There is no command “toString”. See: creel --help'],
  ['forwrd x', 'There is no command “forwrd”. Did you mean forward? See: creel --help'],
  ['follow a --qurey b', 'creel follow has no option --qurey. Did you mean --query? See: creel follow --help'],
  ['help fetch', 'There is no command “fetch”. See: creel --help'],
  ['--json follow a', 'Write options after the command: creel <command> --json'],
  ['requests', 'Name the endpoint: creel requests <endpoint>'],
  ['show a', 'Name the index: creel show <endpoint> <index>'],
  ['follow a b', 'creel follow does not take the argument “b”.'],
  ['logout now', 'creel logout does not take the argument “now”.'],
  ['follow a --colour', 'creel follow has no option --colour. See: creel follow --help'],
  ['follow -x a', 'creel follow has no option -x. See: creel follow --help'],
  ['create --limit 3', 'creel create has no option --limit. See: creel create --help'],
  ['requests a --limit', '--limit needs a value.'],
  ['body a 1 --output -', '--output needs a value.'],
  ['body a 1 --output=', '--output must name a file.'],
  ['requests a --limit --json', '--limit needs a value.'],
  ['requests a --query -h', '--query needs a value.'],
  ['requests a --limit -1', '--limit must be a whole number from 1 up.'],
  ['requests a --limit 0', '--limit must be a whole number from 1 up.'],
  ['requests a --limit 1e3', '--limit must be a whole number from 1 up.'],
  ['requests a --before=-1', '--before must be a whole number from 0 up.'],
  ['follow a --from x', '--from must be a whole number from 0 up.'],
  ['forward a http://b --from 1,', '--from must be a whole number from 0 up, or one for each url, such as 12,15.'],
  ['follow a --json=yes', '--json takes no value.'],
  ['follow a --query a)', '--query is wrong at character 2. Expected an opening parenthesis before this closing one.'],
  ['show a b', 'The index must be a whole number from 0 up.'],
  ['show a -1', 'The index must be a whole number from 0 up.'],
];

describe('says what to type instead', () => {
  test.each(refused)('creel %s', (line, sentence) => {
    expect(() => parse(words(line))).toThrow(new UsageError(sentence));
  });
});

test('a file in commands/ is a command with its name', () => {
  const files = readdirSync(new URL('commands/', import.meta.url)).filter((file) => !file.endsWith('.test.ts'));
  expect([...COMMANDS.keys()].map((name) => `${name}.ts`).toSorted()).toEqual(files.toSorted());
});
