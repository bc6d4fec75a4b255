import { isIP, isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { tierSchema, tryDecode } from '@creel/contract';
import { hostOf } from './url-host.ts';

/** The environment is invalid. The message lists every mistake, so that the operator can fix all of them at once. */
export class ConfigProblem extends Error {
  override readonly name = 'ConfigProblem';
  readonly mistakes: readonly string[];
  constructor(mistakes: readonly string[]) {
    super(`The environment has mistakes:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

// Schemas for variables that are not empty. Each message continues after the name: "PORT must be a whole number".

/** A whole number in decimal digits. */
const whole = (from: number, to = Number.MAX_SAFE_INTEGER) => {
  const range = to === Number.MAX_SAFE_INTEGER ? undefined : `must be from ${from} to ${to}`;
  return z
    .string()
    .regex(/^\d+$/, { error: 'must be a whole number' })
    .transform(Number)
    .refine((value) => value >= from, { error: range ?? `must be ${from} or more` })
    .refine((value) => value <= to, { error: range ?? `must be ${to} or less` });
};

/** One of these words. */
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words)}` });

const flag = oneOf(['true', 'false']).transform((text) => text === 'true');

function hasScheme(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

const isHttpUrl = (text: string): boolean => hasScheme(text, ['http:', 'https:']);

const httpUrl = z.string().refine(isHttpUrl, { error: 'must be an http or https URL' });

/** The sender of emails: an address, or a name with an address in angle brackets (RFC 5322 3.4). */
const mailbox = z.string().regex(/^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u, {
  error: 'must be an address, or a name with an address such as Creel <creel@example.com>',
});

/** Scheme, host and port. Pages and calls are served at the root, so a path would not work. */
const httpOrigin = z
  .string()
  .refine((text) => isHttpUrl(text) && new URL(text).href === `${new URL(text).origin}/`, {
    error: 'must be an http or https URL without a path, such as https://hooks.example.com',
  })
  .transform((text) => new URL(text).origin);

/** False if a character ends the password early. Its rest would count as a path, which messages show. */
function hasWholePassword(text: string): boolean {
  const url = URL.parse(text);
  return url === null ? !/^\w+:\/\/.*@/.test(text) : !(url.pathname + url.hash).includes('@');
}

function isDecodable(text: string): boolean {
  const { username, password } = new URL(text);
  return tryDecode(() => decodeURIComponent(username + password)) !== undefined;
}

const NOT_ESCAPED = {
  error: 'must have @, /, #, ? and % in its user and password written as %40, %2F, %23, %3F and %25',
  abort: true,
};

const urlWith = (protocols: readonly string[]) =>
  z
    .string()
    .refine(hasWholePassword, NOT_ESCAPED)
    .refine((text) => hasScheme(text, protocols), {
      error: `must be a URL that begins with ${protocols.join('// or ')}//`,
      abort: true,
    });

const TLS_PARAMETERS: Readonly<Record<string, RegExp>> = {
  ssl: /^(?:true|1|0)$/,
  sslmode: /^(?:disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/,
  sslrootcert: /./,
  sslcert: /./,
  sslkey: /./,
  sslnegotiation: /./,
};

/** The driver ignores a misspelled parameter, and would connect without TLS. */
function hasKnownTlsParameters(text: string): boolean {
  const parameters = [...new URL(text).searchParams].filter(([name]) => /^ssl/i.test(name));
  return parameters.every(([name, value]) => TLS_PARAMETERS[name]?.test(value) === true);
}

/** The first two forms are valid for PostgreSQL's own clients, and not for ours. */
const databaseUrl = z
  .string()
  .refine((text) => !/^[^/?#]*,/.test(text.replace(/^\w+:\/\/(?:[^/?#]*@)?/, '')), {
    error: 'must name one host. Put a proxy such as HAProxy before several servers',
    abort: true,
  })
  .refine((text) => !/^\w+:\/\/[^/?#]*@(?:[/?]|$)(?!.*@)/.test(text), {
    error: 'must name a host after @. With a Unix socket, write @localhost/NAME?host=FOLDER',
    abort: true,
  })
  .pipe(urlWith(['postgres:', 'postgresql:']))
  .refine(hasKnownTlsParameters, {
    error:
      'must have only the TLS parameters sslmode, sslrootcert, sslcert and sslkey, and a known sslmode such as verify-full',
  });

const smtpUrl = urlWith(['smtp:', 'smtps:'])
  .refine((text) => new URL(text).hostname !== '', { error: 'must name a host' })
  .refine(isDecodable, NOT_ESCAPED);

const hostName = z.string().refine((text) => isIP(text) !== 0 || /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/i.test(text), {
  error: 'must be an address or the name of a host',
});

const list = z.string().transform((text) => text.split(',').map((entry) => entry.trim()));

const addressList = list.refine((entries) => entries.every(isAddressOrCidr), {
  error: 'must be addresses or CIDRs, separated by commas',
});

function isAddressOrCidr(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128));
}

const natsUrls = list
  .refine((entries) => entries.every(hasWholePassword), NOT_ESCAPED)
  .refine((entries) => entries.every((entry) => hasScheme(entry, ['nats:']) && new URL(entry).hostname !== ''), {
    error: 'must be URLs that begin with nats://, separated by commas',
    abort: true,
  })
  .refine((entries) => entries.every(isDecodable), NOT_ESCAPED);

/** The variables that Stripe needs, all of them. */
const stripeSchema = z.object({
  STRIPE_SECRET_KEY: z.string(),
  STRIPE_WEBHOOK_SECRET: z.string(),
  STRIPE_PRICE_BASIC_MONTHLY: z.string(),
  STRIPE_PRICE_BASIC_YEARLY: z.string(),
  STRIPE_PRICE_PREMIUM_MONTHLY: z.string(),
  STRIPE_PRICE_PREMIUM_YEARLY: z.string(),
});

/** The environment variables, all optional (docs/operations.md, "Environment"). */
const environmentSchema = z.object({
  /** The port to listen on. 0 selects a free port. */
  PORT: whole(0, 65_535).default(3000),
  HOST: hostName.default('127.0.0.1'),
  /** Origin of capture URLs and links; with https, cookies are `Secure`. */
  PUBLIC_URL: httpOrigin.optional(),
  /** Folder of the SQLite database. */
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: databaseUrl.optional(),
  /** Servers of one NATS cluster, for notices between nodes and the overflow log. */
  NATS_URL: natsUrls.optional(),
  /** Maximum size of the overflow log in bytes, on each replica. It holds at least one capture with the largest headers. */
  OVERFLOW_MAX_BYTES: whole(65_536).default(4_294_967_296),
  /** Maximum size of a captured body in bytes. */
  MAX_BODY_BYTES: whole(1, 1_000_000_000).default(26_214_400),
  MAX_UNSAVED_PER_ENDPOINT: whole(1).default(1000),
  MAX_SAVED_PER_ENDPOINT: whole(1).default(10_000),
  /** Requests per second and endpoint; bursts may be ten times as large. */
  CAPTURE_RATE_LIMIT: whole(1).optional(),
  ALLOW_PRIVATE_TARGETS: flag.optional(),
  /** Proxies whose `X-Forwarded-*` headers are trusted. */
  TRUST_PROXY: addressList.optional(),
  /** Per client address. */
  SIGNUPS_PER_HOUR: whole(1).default(100),
  EXPIRED_RETENTION_HOURS: whole(0, 1_000_000).default(168),
  BILLING: oneOf(['stripe', 'test', 'off']).optional(),
  DEFAULT_TIER: oneOf(tierSchema.options).default('FREE'),
  ...stripeSchema.partial().shape,
  STRIPE_API_BASE: httpUrl.optional(),
  /** Kept unchanged: its trailing slash is significant (OpenID Connect Discovery 4.3). */
  OIDC_ISSUER: httpUrl.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z.string().max(40, { error: 'must have 40 characters at most' }).default('Google'),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: mailbox.optional(),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  NODE_ENV: z.string().optional(),
});

type Environment = z.output<typeof environmentSchema>;

/** Reads the environment. An empty variable counts as not set. @throws ConfigProblem that lists every mistake. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environmentSchema.safeParse(set);
  const alone = parsed.error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`) ?? [];
  const mistakes = [...alone, ...combinationMistakes(set)];
  if (mistakes.length > 0 || !parsed.success) throw new ConfigProblem(mistakes);
  return toConfig(parsed.data);
}

/** Mistakes in combinations of variables, which are reported together with those in single variables. */
function combinationMistakes(set: Readonly<Partial<Record<string, string>>>): string[] {
  const mistakes: string[] = [];
  const missing = (names: readonly string[]): string => names.filter((name) => set[name] === undefined).join(', ');
  const login = ['OIDC_ISSUER', 'OIDC_CLIENT_ID'];
  const stripe = stripeSchema.keyof().options;
  const asksForLogin = [...login, 'OIDC_CLIENT_SECRET'].some((name) => set[name] !== undefined);
  if (asksForLogin && missing(login) !== '')
    mistakes.push(`${missing(login)} must be set as well, for third-party login`);
  if (set['NATS_URL'] !== undefined && set['DATABASE_URL'] === undefined)
    mistakes.push('DATABASE_URL must be set as well: NATS_URL connects several nodes, and SQLite serves one node');
  if (set['BILLING'] === 'stripe' && missing(stripe) !== '')
    mistakes.push(`${missing(stripe)} must be set, because BILLING is stripe`);
  const prices = stripe.filter((name) => name.startsWith('STRIPE_PRICE_')).map((name) => set[name]);
  const given = prices.filter((price) => price !== undefined);
  if (new Set(given).size < given.length) mistakes.push('The four STRIPE_PRICE_ variables must name different prices');
  return mistakes;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function isLocal(publicUrl: string | undefined): boolean {
  return publicUrl === undefined || isLoopback(hostOf(new URL(publicUrl)));
}

/** In production never the test gateway, because it charges nothing, and Stripe only if it is fully configured. */
function defaultBilling(environment: Environment, hasStripe: boolean): 'stripe' | 'test' | 'off' {
  if (environment.NODE_ENV !== 'production') return 'test';
  return hasStripe ? 'stripe' : 'off';
}

function missingForStripe(environment: Environment): readonly string[] {
  if (environment.BILLING !== undefined || environment.NODE_ENV !== 'production') return [];
  const { options } = stripeSchema.keyof();
  const missing = options.filter((name) => environment[name] === undefined);
  return missing.length < options.length ? missing : [];
}

function stripeOf(environment: Environment) {
  const { data } = stripeSchema.safeParse(environment);
  if (data === undefined) return undefined;
  return {
    secretKey: data.STRIPE_SECRET_KEY,
    webhookSecret: data.STRIPE_WEBHOOK_SECRET,
    /** Another host with Stripe's API. Only its scheme, host and port are used. */
    apiBase: environment.STRIPE_API_BASE,
    prices: {
      BASIC: { monthly: data.STRIPE_PRICE_BASIC_MONTHLY, yearly: data.STRIPE_PRICE_BASIC_YEARLY },
      PREMIUM: { monthly: data.STRIPE_PRICE_PREMIUM_MONTHLY, yearly: data.STRIPE_PRICE_PREMIUM_YEARLY },
    },
  };
}

export type Config = Readonly<ReturnType<typeof toConfig>>;
export type OidcConfig = NonNullable<Config['oidc']>;
export type StripeConfig = NonNullable<Config['stripe']>;

function toConfig(environment: Environment) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = environment;
  const stripe = stripeOf(environment);
  return {
    port: environment.PORT,
    host: environment.HOST,
    /** Without a trailing slash. `undefined`: derived from host and port. */
    publicUrl: environment.PUBLIC_URL,
    dataDir: resolve(environment.DATA_DIR),
    databaseUrl: environment.DATABASE_URL,
    /** Empty: no NATS. */
    natsUrls: environment.NATS_URL ?? [],
    overflowMaxBytes: environment.OVERFLOW_MAX_BYTES,
    maxBodyBytes: environment.MAX_BODY_BYTES,
    maxUnsavedPerEndpoint: environment.MAX_UNSAVED_PER_ENDPOINT,
    maxSavedPerEndpoint: environment.MAX_SAVED_PER_ENDPOINT,
    captureRateLimit: environment.CAPTURE_RATE_LIMIT,
    allowPrivateTargets: environment.ALLOW_PRIVATE_TARGETS ?? isLoopback(environment.HOST),
    /** Private targets are allowed by default, but users of other machines come through a proxy. */
    exposesPrivateTargets:
      environment.ALLOW_PRIVATE_TARGETS === undefined &&
      isLoopback(environment.HOST) &&
      !isLocal(environment.PUBLIC_URL),
    trustProxy: environment.TRUST_PROXY ?? [],
    signupsPerHour: environment.SIGNUPS_PER_HOUR,
    expiredRetentionMs: environment.EXPIRED_RETENTION_HOURS * 3_600_000,
    billing: environment.BILLING ?? defaultBilling(environment, stripe !== undefined),
    /** Set when all Stripe variables are set. */
    stripe,
    /** Billing is off only because some of them are missing, perhaps misspelled. */
    missingForStripe: missingForStripe(environment),
    defaultTier: environment.DEFAULT_TIER,
    oidc:
      issuer === undefined || clientId === undefined
        ? undefined
        : { issuer, clientId, clientSecret: environment.OIDC_CLIENT_SECRET, name: environment.OIDC_NAME },
    smtpUrl: environment.SMTP_URL,
    mailFrom: environment.MAIL_FROM,
    logLevel: environment.LOG_LEVEL,
  };
}
