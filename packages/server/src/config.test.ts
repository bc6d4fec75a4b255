import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigProblem, readConfig } from './config.ts';

function mistakes(environment: Record<string, string | undefined>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigProblem) return error.mistakes;
    throw error;
  }
}

const STRIPE = {
  BILLING: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test',
  STRIPE_WEBHOOK_SECRET: 'whsec',
  STRIPE_PRICE_BASIC_MONTHLY: 'p1',
  STRIPE_PRICE_BASIC_YEARLY: 'p2',
  STRIPE_PRICE_PREMIUM_MONTHLY: 'p3',
  STRIPE_PRICE_PREMIUM_YEARLY: 'p4',
};

test('defaults for an empty environment', () => {
  expect(readConfig({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    publicUrl: undefined,
    dataDir: resolve('data'),
    databaseUrl: undefined,
    natsUrls: [],
    maxBodyBytes: 26_214_400,
    maxUnsavedPerEndpoint: 1000,
    maxSavedPerEndpoint: 10_000,
    captureRateLimit: undefined,
    allowPrivateTargets: true,
    trustProxy: [],
    signupsPerHour: 100,
    expiredRetentionMs: 168 * 3_600_000,
    billing: 'test',
    defaultTier: 'FREE',
    oidc: undefined,
    smtpUrl: undefined,
    mailFrom: undefined,
    logLevel: 'info',
  });
});

describe('each variable is read', () => {
  test.each<[string, string, string, unknown]>([
    ['PORT', '8080', 'port', 8080],
    ['PORT', '0', 'port', 0],
    ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
    ['PUBLIC_URL', 'https://hooks.example.com', 'publicUrl', 'https://hooks.example.com'],
    ['PUBLIC_URL', 'HTTPS://Hooks.Example.com:443/', 'publicUrl', 'https://hooks.example.com'],
    ['PUBLIC_URL', 'http://h:8080/', 'publicUrl', 'http://h:8080'],
    ['DATA_DIR', '/var/lib/creel', 'dataDir', '/var/lib/creel'],
    ['DATABASE_URL', 'postgres://u:p@h/d', 'databaseUrl', 'postgres://u:p@h/d'],
    ['DATABASE_URL', 'postgresql://h/d', 'databaseUrl', 'postgresql://h/d'],
    ['DATABASE_URL', 'postgres://u:1,2@h/d', 'databaseUrl', 'postgres://u:1,2@h/d'],
    ['DATABASE_URL', 'postgres://u:p@localhost/d?host=/run', 'databaseUrl', 'postgres://u:p@localhost/d?host=/run'],
    [
      'DATABASE_URL',
      'postgres://u:1%2F2%40@h/d?sslmode=require',
      'databaseUrl',
      'postgres://u:1%2F2%40@h/d?sslmode=require',
    ],
    ['MAX_BODY_BYTES', '1', 'maxBodyBytes', 1],
    ['MAX_UNSAVED_PER_ENDPOINT', '5', 'maxUnsavedPerEndpoint', 5],
    ['MAX_SAVED_PER_ENDPOINT', '7', 'maxSavedPerEndpoint', 7],
    ['CAPTURE_RATE_LIMIT', '9', 'captureRateLimit', 9],
    ['ALLOW_PRIVATE_TARGETS', 'false', 'allowPrivateTargets', false],
    ['TRUST_PROXY', ' 10.0.0.0/8, ::1 ', 'trustProxy', ['10.0.0.0/8', '::1']],
    ['SIGNUPS_PER_HOUR', '3', 'signupsPerHour', 3],
    ['EXPIRED_RETENTION_HOURS', '0', 'expiredRetentionMs', 0],
    ['BILLING', 'off', 'billing', 'off'],
    ['DEFAULT_TIER', 'PREMIUM', 'defaultTier', 'PREMIUM'],
    ['SMTP_URL', 'smtp://u:p@h:587', 'smtpUrl', 'smtp://u:p@h:587'],
    ['SMTP_URL', 'smtps://h', 'smtpUrl', 'smtps://h'],
    ['MAIL_FROM', 'Creel <creel@example.com>', 'mailFrom', 'Creel <creel@example.com>'],
    ['MAIL_FROM', 'creel@example.com', 'mailFrom', 'creel@example.com'],
    ['LOG_LEVEL', 'debug', 'logLevel', 'debug'],
  ])('%s=%s', (name, value, field, expected) => {
    expect(Reflect.get(readConfig({ [name]: value }), field)).toEqual(expected);
  });

  test('OIDC_*', () => {
    const both = { OIDC_ISSUER: 'https://id.example/realm/', OIDC_CLIENT_ID: 'creel' };
    expect(readConfig(both).oidc).toMatchObject({
      issuer: 'https://id.example/realm/',
      clientId: 'creel',
      clientSecret: undefined,
      name: 'Google',
    });
    expect(readConfig({ ...both, OIDC_CLIENT_SECRET: 's', OIDC_NAME: 'Acme' }).oidc).toMatchObject({
      clientSecret: 's',
      name: 'Acme',
    });
  });

  test('BILLING=stripe with all its variables', () => {
    expect(readConfig(STRIPE).billing).toBe('stripe');
  });
});

describe('combinations of variables', () => {
  test.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.2', false],
    ['127.0.0.1.example.com', false],
    ['hooks.example.com', false],
  ])('on HOST=%s private targets are allowed: %s', (HOST, allowed) => {
    expect(readConfig({ HOST }).allowPrivateTargets).toBe(allowed);
    expect(readConfig({ HOST, ALLOW_PRIVATE_TARGETS: String(!allowed) }).allowPrivateTargets).toBe(!allowed);
  });

  test.each([
    [{}, false],
    [{ PUBLIC_URL: 'http://localhost:3000' }, false],
    [{ PUBLIC_URL: 'http://[::1]:3000' }, false],
    [{ PUBLIC_URL: 'https://hooks.example.com' }, true],
    [{ PUBLIC_URL: 'https://hooks.example.com', ALLOW_PRIVATE_TARGETS: 'true' }, false],
    [{ PUBLIC_URL: 'https://hooks.example.com', HOST: '0.0.0.0' }, false],
  ])('with %j private targets are allowed by oversight: %s', (environment, exposed) => {
    expect(readConfig(environment).exposesPrivateTargets).toBe(exposed);
  });

  test('NATS_URL is a list', () => {
    const NATS_URL = 'nats://a:4222, nats://user:secret@b';
    expect(readConfig({ DATABASE_URL: 'postgres://h/d', NATS_URL }).natsUrls).toEqual([
      'nats://a:4222',
      'nats://user:secret@b',
    ]);
  });

  test('billing is off in production unless it is set', () => {
    expect(readConfig({ NODE_ENV: 'production' }).billing).toBe('off');
    expect(readConfig({ NODE_ENV: 'production', BILLING: 'test' }).billing).toBe('test');
    expect(readConfig({ NODE_ENV: 'development' }).billing).toBe('test');
  });

  test.each([
    ['production', '', { STRIPE_SECRET_KEY: '' }, 'off', ['STRIPE_SECRET_KEY']],
    ['production', '', {}, 'stripe', []],
    ['production', 'off', { STRIPE_SECRET_KEY: '' }, 'off', []],
    ['development', '', { STRIPE_SECRET_KEY: '' }, 'test', []],
  ])(
    'in %s with BILLING=%s and %j, billing is %s, and %j are missing for Stripe',
    (NODE_ENV, BILLING, some, billing, missing) => {
      const config = readConfig({ ...STRIPE, ...some, NODE_ENV, BILLING });
      expect([config.billing, config.missingForStripe]).toEqual([billing, missing]);
      expect(readConfig({ NODE_ENV, BILLING }).missingForStripe).toEqual([]);
    },
  );

  test('an empty variable counts as not set', () => {
    const empty = Object.fromEntries(
      [
        'PORT',
        'HOST',
        'PUBLIC_URL',
        'DATABASE_URL',
        'TRUST_PROXY',
        'BILLING',
        'OIDC_ISSUER',
        'SMTP_URL',
        'LOG_LEVEL',
      ].map((name) => [name, '']),
    );
    expect(readConfig(empty)).toEqual(readConfig({}));
  });

  test('unknown variables are ignored', () => {
    expect(readConfig({ PATH: '/bin', HOME: undefined, port: 'x' })).toEqual(readConfig({}));
  });
});

describe('an invalid value is reported with the name of its variable', () => {
  const MAILBOX = 'must be an address, or a name with an address such as Creel <creel@example.com>';
  const WHOLE = 'must be a whole number';
  const ESCAPED = 'must have @, /, #, ? and % in its user and password written as %40, %2F, %23, %3F and %25';
  const ONE_HOST = 'must name one host. Put a proxy such as HAProxy before several servers';
  const TLS =
    'must have only the TLS parameters sslmode, sslrootcert, sslcert and sslkey, and a known sslmode such as verify-full';
  const ORIGIN = 'must be an http or https URL without a path, such as https://hooks.example.com';
  const ADDRESSES = 'must be addresses or CIDRs, separated by commas';
  test.each([
    ['PORT', 'abc', WHOLE],
    ['PORT', '-1', WHOLE],
    ['PORT', '80.5', WHOLE],
    ['PORT', ' 80', WHOLE],
    ['PORT', '0x50', WHOLE],
    ['PORT', '65536', 'must be from 0 to 65535'],
    ['PUBLIC_URL', 'hooks.example.com', ORIGIN],
    ['PUBLIC_URL', 'ftp://h', ORIGIN],
    ['PUBLIC_URL', 'https://h/creel', ORIGIN],
    ['PUBLIC_URL', 'https://h?x', ORIGIN],
    ['PUBLIC_URL', 'https://h#x', ORIGIN],
    ['PUBLIC_URL', 'https://user:pass@h', ORIGIN],
    ['DATABASE_URL', 'mysql://h/d', 'must be a URL that begins with postgres:// or postgresql://'],
    ['DATABASE_URL', 'postgres://u:12/3@h/d', ESCAPED],
    ['DATABASE_URL', 'postgres://u:pass/word@h/d', ESCAPED],
    ['DATABASE_URL', 'postgres://u:#1@h/d', ESCAPED],
    ['DATABASE_URL', 'postgres:///u:p@h/d', ESCAPED],
    ['DATABASE_URL', 'postgres://u:p@/1@h/d', ESCAPED],
    ['DATABASE_URL', 'postgres://u:p@h:1,i:2/d', ONE_HOST],
    ['DATABASE_URL', 'postgres://h,i/d', ONE_HOST],
    [
      'DATABASE_URL',
      'postgres://u:p@/d?host=/run',
      'must name a host after @. With a Unix socket, write @localhost/NAME?host=FOLDER',
    ],
    ['SMTP_URL', 'smtp://u:100%@h', ESCAPED],
    ['SMTP_URL', 'smtp://u:12/3@h', ESCAPED],
    ['DATABASE_URL', 'postgres://h/d?sslMode=require', TLS],
    ['DATABASE_URL', 'postgres://h/d?ssl_mode=require', TLS],
    ['DATABASE_URL', 'postgres://h/d?sslmode=verify_full', TLS],
    ['DATABASE_URL', 'creel.db', 'must be a URL that begins with postgres:// or postgresql://'],
    ['MAX_BODY_BYTES', '0', 'must be from 1 to 1000000000'],
    ['MAX_BODY_BYTES', '25MB', WHOLE],
    ['MAX_UNSAVED_PER_ENDPOINT', '0', 'must be 1 or more'],
    ['OVERFLOW_MAX_BYTES', '10', 'must be 65536 or more'],
    ['OVERFLOW_MAX_BYTES', '9007199254740993', 'must be 9007199254740991 or less'],
    ['MAX_SAVED_PER_ENDPOINT', 'many', WHOLE],
    ['CAPTURE_RATE_LIMIT', '0', 'must be 1 or more'],
    ['ALLOW_PRIVATE_TARGETS', 'yes', 'must be true or false'],
    ['TRUST_PROXY', 'loopback', ADDRESSES],
    ['TRUST_PROXY', '10.0.0.0/33', ADDRESSES],
    ['TRUST_PROXY', '10.0.0.0/', ADDRESSES],
    ['TRUST_PROXY', '10.0.0.0/8/8', ADDRESSES],
    ['TRUST_PROXY', '::1/129', ADDRESSES],
    ['TRUST_PROXY', '10.0.0.1,,10.0.0.2', ADDRESSES],
    ['TRUST_PROXY', '10.0.0', ADDRESSES],
    ['SIGNUPS_PER_HOUR', '0', 'must be 1 or more'],
    ['EXPIRED_RETENTION_HOURS', '1e9', WHOLE],
    ['EXPIRED_RETENTION_HOURS', '1000001', 'must be from 0 to 1000000'],
    ['BILLING', 'paypal', 'must be stripe, test or off'],
    ['DEFAULT_TIER', 'premium', 'must be FREE, BASIC or PREMIUM'],
    ['STRIPE_API_BASE', 'stripe', 'must be an http or https URL'],
    ['OIDC_NAME', 'n'.repeat(41), 'must have 40 characters at most'],
    ['SMTP_URL', 'mail.example.com:587', 'must be a URL that begins with smtp:// or smtps://'],
    ['SMTP_URL', 'smtp://', 'must name a host'],
    ['HOST', 'not a host', 'must be an address or the name of a host'],
    ['MAIL_FROM', 'x', MAILBOX],
    ['MAIL_FROM', 'Creel creel@example.com', MAILBOX],
    ['MAIL_FROM', 'a@example.com, b@example.com', MAILBOX],
    ['MAIL_FROM', 'Creel\nBcc: <creel@example.com>', MAILBOX],
    ['LOG_LEVEL', 'loud', 'must be fatal, error, warn, info, debug, trace or silent'],
  ])('%s=%s', (name, value, sentence) => {
    expect(mistakes({ [name]: value })).toEqual([`${name} ${sentence}`]);
  });

  test.each([
    [{ OIDC_ISSUER: 'https://id.example' }, 'OIDC_CLIENT_ID must be set as well, for third-party login'],
    [{ OIDC_CLIENT_ID: 'creel' }, 'OIDC_ISSUER must be set as well, for third-party login'],
    [{ OIDC_CLIENT_SECRET: 's' }, 'OIDC_ISSUER, OIDC_CLIENT_ID must be set as well, for third-party login'],
    [
      { ...STRIPE, STRIPE_SECRET_KEY: '', STRIPE_PRICE_BASIC_YEARLY: undefined },
      'STRIPE_SECRET_KEY, STRIPE_PRICE_BASIC_YEARLY must be set, because BILLING is stripe',
    ],
    [
      { NATS_URL: 'nats://h' },
      'DATABASE_URL must be set as well: NATS_URL connects several nodes, and SQLite serves one node',
    ],
    ...['nats://u:12/3@h', 'nats://u:pass?word@h', 'nats://h, nats://u:%FF@h'].map(
      (NATS_URL): [Record<string, string>, string] => [
        { DATABASE_URL: 'postgres://h/d', NATS_URL },
        `NATS_URL ${ESCAPED}`,
      ],
    ),
    ...['h:4222', 'nats://', 'nats://h,', 'http://h'].map((NATS_URL): [Record<string, string>, string] => [
      { DATABASE_URL: 'postgres://h/d', NATS_URL },
      'NATS_URL must be URLs that begin with nats://, separated by commas',
    ]),
  ])('%j', (environment, sentence) => {
    expect(mistakes(environment)).toEqual([sentence]);
  });

  test('all mistakes are listed together, of single variables and of combinations', () => {
    const environment = {
      PORT: 'x',
      HOST: '::',
      TRUST_PROXY: 'y',
      LOG_LEVEL: 'z',
      BILLING: 'stripe',
      OIDC_CLIENT_ID: 'creel',
      MAX_BODY_BYTES: '0',
    };
    expect(
      mistakes(environment)
        .map((mistake) => mistake.split(' ')[0]?.replace(',', ''))
        .toSorted(),
    ).toEqual(['LOG_LEVEL', 'MAX_BODY_BYTES', 'OIDC_ISSUER', 'PORT', 'STRIPE_SECRET_KEY', 'TRUST_PROXY']);
  });

  test('values are not repeated in messages, because they may be secrets', () => {
    const secret = 'canary-7f3a';
    const environment = {
      DATABASE_URL: secret,
      NATS_URL: secret,
      SMTP_URL: secret,
      PUBLIC_URL: secret,
      OIDC_ISSUER: secret,
      STRIPE_API_BASE: secret,
      PORT: secret,
      BILLING: secret,
    };
    expect(mistakes(environment).length).toBeGreaterThan(6);
    expect(mistakes(environment).join('\n')).not.toContain(secret);
  });
});
