/** One command as a person sees it; parsing and help are both made from these rows. */
export interface CommandRow {
  readonly summary: string;
  /** Its arguments, in order; all are needed. */
  readonly places: readonly string[];
  readonly options: Readonly<Record<string, OptionRow>>;
  /** What the help says below the options. */
  readonly more?: string;
}

interface OptionRow {
  readonly type: 'string' | 'boolean';
  /** How help names the value. */
  readonly value?: string;
  readonly help: string;
}

const SERVER = {
  server: { type: 'string', value: 'URL', help: 'the server; else CREEL_URL, else where you signed in last' },
} as const satisfies CommandRow['options'];
const JSON_LINES = {
  json: { type: 'boolean', help: 'one JSON object per line, as the API gives it' },
} as const satisfies CommandRow['options'];

const FROM = {
  from: { type: 'string', value: 'INDEX', help: 'begins with what is stored from this index on' },
} as const satisfies CommandRow['options'];

const QUERY = {
  query: { type: 'string', value: 'QUERY', help: 'only those that match, such as "method:POST json.amount:>1000"' },
} as const satisfies CommandRow['options'];

export const COMMANDS = {
  login: {
    summary: 'signs in and keeps the session',
    places: [],
    options: { ...SERVER, username: { type: 'string', value: 'NAME', help: 'who signs in' } },
    more: `Asks for what was not said. Where standard input is no terminal, the password is read from it:
  creel login --server https://hooks.example.com --username alice < password-file
The session is kept in $XDG_CONFIG_HOME/creel/session.json, else ~/.config/creel/session.json, for you alone.`,
  },
  logout: { summary: 'ends the session and forgets it', places: [], options: SERVER },
  endpoints: {
    summary: 'lists your endpoints: uid, stored requests, expiry, capture URL, name',
    places: [],
    options: { ...JSON_LINES, ...SERVER },
  },
  create: {
    summary: 'creates an endpoint and prints its capture URL, nothing else',
    places: [],
    options: { name: { type: 'string', value: 'NAME', help: 'what to call it' }, ...SERVER },
  },
  requests: {
    summary: 'lists captured requests, newest first: time, index, method, target, size',
    places: ['endpoint'],
    options: {
      limit: { type: 'string', value: 'N', help: 'how many at most (100)' },
      before: { type: 'string', value: 'INDEX', help: 'only those with a lower index: the next page' },
      ...QUERY,
      ...JSON_LINES,
      ...SERVER,
    },
  },
  follow: {
    summary: 'prints each capture as it arrives, until Ctrl-C',
    places: ['endpoint'],
    options: {
      ...FROM,
      ...QUERY,
      ...JSON_LINES,
      ...SERVER,
    },
    more: `Connects again whenever the connection is lost, and then prints first what arrived meanwhile: by index, each once.
Ends with code 1 when the endpoint is deleted or expires, or when the session ends.`,
  },
  forward: {
    summary: 'sends each capture on from this machine, byte for byte, until Ctrl-C',
    places: ['endpoint', 'url'],
    options: {
      ...FROM,
      ...QUERY,
      json: { type: 'boolean', help: 'one JSON object per line: index, method, target and what became of it' },
      ...SERVER,
    },
    more: `What followed the capture URL follows the <url>: a capture at …/h/UID/a?b=1 goes to <url>/a?b=1.
One after the other, in their order. While the <url> can't be reached, captures wait and none is lost: they are stored.
A capture that was sent is not sent twice, whatever was answered; redirects are not followed.`,
  },
  replay: {
    summary: 'has the server send a request to a URL again, and prints the answer',
    places: ['endpoint', 'index', 'url'],
    options: { json: { type: 'boolean', help: 'the answer as one JSON object, as the API gives it' }, ...SERVER },
    more: 'For a URL that only this machine reaches, use: creel forward',
  },
  show: {
    summary: 'prints one request: method and target, headers as they came, body if it is text',
    places: ['endpoint', 'index'],
    options: SERVER,
  },
  body: {
    summary: 'writes the exact bytes of a body to standard output',
    places: ['endpoint', 'index'],
    options: {
      output: { type: 'string', value: 'FILE', help: 'writes them to this file instead' },
      force: { type: 'boolean', help: 'also to a terminal when they are not plain text' },
      ...SERVER,
    },
  },
} as const satisfies Record<string, CommandRow>;

export type CommandName = keyof typeof COMMANDS;

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}
