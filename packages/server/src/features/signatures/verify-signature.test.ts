import type { RawHeaders, SigningSecret } from '@creel/contract';
import { createHmac } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { RunnerTask } from 'vitest';
import {
  NOW,
  byGithub,
  byOthers,
  byShopify,
  bySlack,
  byStandard,
  byStripe,
  digest,
} from '../../../test/signed-headers.ts';
import type { Sender } from '../../../test/signed-headers.ts';
import { REASONS } from './reasons.ts';
import { verifySignature } from './service.ts';

const KEY = Buffer.from('0123456789abcdef01234567');
const STANDARD = `whsec_${KEY.toString('base64')}`;
const COMPACT = '{"id":12345678901234567890,"name":"Grüße","empty":[],"items":[{"price":1.50}],"url":"a/b"}';
const BODY = Buffer.from(COMPACT);

/** All reasons that the tests of this file got. */
const given: string[] = [];

async function verify(signing: SigningSecret, headers: RawHeaders, body: string | Buffer = BODY, at = NOW) {
  const signature = await verifySignature(signing, { headers, body: Buffer.from(body), receivedAt: at * 1000 + 999 });
  given.push(signature.reason ?? '');
  return signature;
}

/** The sentence about a request that is signed with a mistake. */
async function reasonOf(signing: SigningSecret, headers: RawHeaders, body?: string | Buffer): Promise<string | null> {
  const { verdict, reason } = await verify(signing, headers, body);
  expect(verdict).toBe('invalid');
  return reason;
}

describe('the secret', () => {
  test.each([
    ['shhh ', 'end'],
    ['shhh\n', 'end'],
    ['shhh\r\n', 'end'],
    ['\tshhh', 'beginning'],
  ])('was copied with white space: %j', async (secret, where) => {
    const reason = `The secret has a space or a line break at its ${where}. Without it the signature matches.`;
    const sender = { key: 'shhh', body: BODY };
    expect(await reasonOf({ scheme: 'stripe', secret }, byStripe(sender))).toBe(reason);
    expect(await reasonOf({ scheme: 'github', secret }, byGithub(sender))).toBe(reason);
    expect(await reasonOf({ scheme: 'shopify', secret }, byShopify(sender))).toBe(reason);
    expect(await reasonOf({ scheme: 'slack', secret }, bySlack(sender))).toBe(reason);
    const signing = { scheme: 'hmac-sha256', secret, header: 'x-acme-signature' } as const;
    expect(await reasonOf(signing, byOthers(sender))).toBe(reason);
    const standard = { scheme: 'standard-webhooks', secret: secret.replace('shhh', STANDARD) } as const;
    expect(await reasonOf(standard, byStandard({ key: KEY, body: BODY }))).toBe(reason);
  });

  test('is in quotation marks', async () => {
    expect(await reasonOf({ scheme: 'github', secret: '"shhh"' }, byGithub({ key: 'shhh', body: BODY }))).toBe(
      'The secret is in quotation marks. Without them the signature matches.',
    );
  });

  test('lacks its whsec_, or has one that does not belong to it', async () => {
    expect(await reasonOf({ scheme: 'stripe', secret: 'abc' }, byStripe({ key: 'whsec_abc', body: BODY }))).toBe(
      'The secret lacks its beginning “whsec_”. With it the signature matches.',
    );
    expect(await reasonOf({ scheme: 'github', secret: 'whsec_abc' }, byGithub({ key: 'abc', body: BODY }))).toBe(
      'The secret begins with “whsec_”, which does not belong to it. Without it the signature matches.',
    );
    const withPrefix = byStandard({ key: STANDARD, body: BODY });
    expect(await reasonOf({ scheme: 'standard-webhooks', secret: STANDARD }, withPrefix)).toBe(
      'The sender reads the secret as text that includes “whsec_”, but here it is read as base64. Both must use the same key.',
    );
  });

  test('of Standard Webhooks is the same with and without its prefix', async () => {
    const headers = byStandard({ key: KEY, body: BODY });
    for (const secret of [STANDARD, KEY.toString('base64')])
      expect(await verify({ scheme: 'standard-webhooks', secret }, headers)).toMatchObject({ verdict: 'valid' });
  });

  test('is read in another encoding than the sender reads it', async () => {
    const reads = (sender: string, here: string) =>
      `The sender reads the secret as ${sender}, but here it is read as ${here}. Both must use the same key.`;
    const hex = KEY.toString('hex');
    const base64 = KEY.toString('base64');
    const own = { key: KEY, body: BODY };
    expect(await reasonOf({ scheme: 'github', secret: hex }, byGithub(own))).toBe(reads('hex', 'text'));
    expect(await reasonOf({ scheme: 'github', secret: base64 }, byGithub(own))).toBe(reads('base64', 'text'));
    expect(await reasonOf({ scheme: 'standard-webhooks', secret: hex }, byStandard(own))).toBe(reads('hex', 'base64'));
    const asText = byStandard({ key: base64, body: BODY });
    expect(await reasonOf({ scheme: 'standard-webhooks', secret: STANDARD }, asText)).toBe(reads('text', 'base64'));
  });

  test('has a line break at the sender, as echo adds one', async () => {
    const reason = 'The sender signs with the secret and a line break after it. Remove the line break at the sender.';
    const sender = { key: 'shhh\n', body: BODY };
    expect(await reasonOf({ scheme: 'github', secret: 'shhh' }, byGithub(sender))).toBe(reason);
    expect(await reasonOf({ scheme: 'stripe', secret: 'shhh' }, byStripe(sender))).toBe(reason);
  });

  test.each([
    ['github', 'ghp_abc', byGithub],
    ['slack', 'xoxb-1-abc', bySlack],
    ['shopify', 'shpat_abc', byShopify],
  ] as const)('is an access token: %s %s', async (scheme, secret, sign) => {
    expect(await reasonOf({ scheme, secret }, sign({ key: 'shhh', body: BODY }))).toMatch(
      /The secret is an access token of (?:GitHub|Slack|Shopify)\./,
    );
  });

  test('of Shopify is one of two', async () => {
    expect(await reasonOf({ scheme: 'shopify', secret: 'other' }, byShopify({ key: 'shhh', body: BODY }))).toContain(
      'those of the admin with the secret under Settings',
    );
  });

  test("is of Stripe's other mode, or no signing secret", async () => {
    const inTest = '{"id":"evt_1","livemode":false}';
    const live = '{"id":"evt_1",\n "livemode": true}';
    const signing = { scheme: 'stripe', secret: 'whsec_mine' } as const;
    expect(await reasonOf(signing, byStripe({ key: 'whsec_other', body: inTest }), inTest)).toContain(
      'The event is from test mode. Check that the secret is the one of the test mode',
    );
    expect(await reasonOf(signing, byStripe({ key: 'whsec_other', body: live }), live)).toContain('from live mode');
    for (const secret of ['sk_test_1', 'rk_live_1', 'pk_test_1']) {
      const reason = await reasonOf({ scheme: 'stripe', secret }, byStripe({ key: 'whsec_other', body: live }), live);
      expect(reason).toContain('is an API key');
    }
  });
});

describe('the signature', () => {
  const signing = { scheme: 'hmac-sha256', secret: 'shhh', header: 'X-Acme-Signature' } as const;
  const hex = digest({ key: 'shhh', body: BODY });
  const base64 = digest({ key: 'shhh', body: BODY, encoding: 'base64' });

  test('is in the other encoding', async () => {
    expect(await reasonOf(signing, [['x-acme-signature', base64]])).toBe(
      'The signature is in base64, but it is read as hex. Set the encoding to base64.',
    );
    expect(await reasonOf({ ...signing, encoding: 'base64' }, [['x-acme-signature', hex]])).toBe(
      'The signature is in hex, but it is read as base64. Set the encoding to hex.',
    );
    const github = await reasonOf({ scheme: 'github', secret: 'shhh' }, [['X-Hub-Signature-256', `sha256=${base64}`]]);
    expect(github).toBe('The signature is in base64, but it is read as hex. GitHub sends hex.');
    const upperCase: RawHeaders = [['X-Hub-Signature-256', `sha256=${hex.toUpperCase()}`]];
    expect(await reasonOf({ scheme: 'github', secret: 'shhh' }, upperCase)).toContain(
      'not written as GitHub writes it',
    );
  });

  test('of a plain HMAC has any case, encoding and prefix, alone or in a list', async () => {
    const valid = { scheme: 'hmac-sha256', verdict: 'valid', reason: null };
    expect(await verify(signing, [['X-ACME-Signature', hex.toUpperCase()]])).toEqual(valid);
    expect(await verify({ ...signing, encoding: 'base64' }, [['X-Acme-Signature', base64]])).toEqual(valid);
    const prefixed = { ...signing, prefix: 'sha256=' };
    expect(await verify(prefixed, [['X-Acme-Signature', `sha256=${hex}`]])).toEqual(valid);
    expect(await verify(prefixed, [['X-Acme-Signature', `sha256=${'0'.repeat(64)}, sha256=${hex}`]])).toEqual(valid);
    const withComma = { ...signing, prefix: 'v1,' };
    expect(await verify(withComma, [['X-Acme-Signature', `v1,${'0'.repeat(64)},v1,${hex} v2,${hex}`]])).toEqual(valid);
  });

  test('is made with another hash function', async () => {
    const sha1 = createHmac('sha1', 'shhh').update(BODY).digest('hex');
    expect(await reasonOf({ ...signing, prefix: 'sha1=' }, [['X-Acme-Signature', `sha1=${sha1}`]])).toBe(
      'The signature is made with HMAC-SHA1. It must be made with HMAC-SHA256.',
    );
    const sha512 = createHmac('sha512', 'shhh').update(BODY).digest('base64');
    expect(await reasonOf({ scheme: 'shopify', secret: 'shhh' }, [['X-Shopify-Hmac-Sha256', sha512]])).toContain(
      'HMAC-SHA512',
    );
  });

  test('is base64 of hex digits, or another base64 than that of RFC 4648', async () => {
    const twice = Buffer.from(hex).toString('base64');
    expect(await reasonOf({ ...signing, encoding: 'base64' }, [['X-Acme-Signature', twice]])).toBe(
      'The signature is the base64 of hex digits. Encode the bytes of the digest once, without hex digits in between.',
    );
    const unpadded = base64.replace('=', '');
    expect(await reasonOf({ ...signing, encoding: 'base64' }, [['X-Acme-Signature', unpadded]])).toBe(
      `The signature is right, but it is not written as RFC 4648 writes it: expected “${base64}”.`,
    );
  });

  test('is of another text than the scheme signs', async () => {
    const key = 'shhh';
    const signed = (before: string) => digest({ key, body: BODY }, before);
    const stripe = (before: string) =>
      reasonOf({ scheme: 'stripe', secret: key }, [['Stripe-Signature', `t=${NOW},v1=${signed(before)}`]]);
    expect(await stripe('')).toBe(`The body alone was signed. It must be “${NOW}.” and then the body.`);
    expect(await stripe(`${NOW}`)).toBe(
      `“${NOW}” and then the body was signed. It must be “${NOW}.” and then the body.`,
    );
    const slack: RawHeaders = [
      ['X-Slack-Request-Timestamp', `${NOW}`],
      ['X-Slack-Signature', `v0=${signed(`${NOW}:`)}`],
    ];
    expect(await reasonOf({ scheme: 'slack', secret: key }, slack)).toContain(`It must be “v0:${NOW}:” and`);
    const standard = byStandard({ key: KEY, body: BODY }).slice(0, 2);
    const withoutId = digest({ key: KEY, body: BODY, encoding: 'base64' }, `${NOW}.`);
    standard.push(['webhook-signature', `v1,${withoutId}`]);
    expect(await reasonOf({ scheme: 'standard-webhooks', secret: STANDARD }, standard)).toContain(
      `“${NOW}.” and then the body was signed. It must be “msg_1.${NOW}.” and`,
    );
  });

  test.each([
    ['stripe', 'Stripe-Signature', 'hello', byStripe],
    ['github', 'X-Hub-Signature-256', 'junk', byGithub],
    ['github', 'X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`, byGithub],
    ['shopify', 'X-Shopify-Hmac-Sha256', 'junk', byShopify],
    ['slack', 'X-Slack-Signature', 'v0=junk', bySlack],
    ['slack', 'X-Slack-Request-Timestamp', '1', bySlack],
  ] as const)('is in a repeated header: %s %s %s', async (scheme, name, junk, sign) => {
    const right = sign({ key: 'shhh', body: BODY });
    expect(await reasonOf({ scheme, secret: 'shhh' }, [[name, junk], ...right])).toBe(
      `The request has several ${name} headers, and receivers join them. The last one alone matches. Send only this one.`,
    );
    const first: RawHeaders = [...byGithub({ key: 'shhh', body: BODY }), ['x-hub-signature-256', 'junk']];
    expect(await reasonOf({ scheme: 'github', secret: 'shhh' }, first)).toContain('The first one alone matches.');
    const wrong = sign({ key: 'other', body: BODY });
    expect(await reasonOf({ scheme, secret: 'shhh' }, [[name, junk], ...wrong])).not.toContain('several');
  });

  test('has no prefix, or one that is not set', async () => {
    expect(await reasonOf({ ...signing, prefix: 'sha256=' }, [['X-Acme-Signature', hex]])).toBe(
      'The X-Acme-Signature header does not begin with the prefix “sha256=”.',
    );
    expect(await reasonOf(signing, [['X-Acme-Signature', '']])).toContain('It should look like “<64 hex digits>”.');
    expect(await reasonOf(signing, [['X-Acme-Signature', `sha256=${hex}`]])).toBe(
      'The signature begins with “sha256=”. Set the prefix to “sha256=”.',
    );
  });

  test('is one of several, as while a secret is rotated', async () => {
    const [[, stripe = ''] = []] = byStripe({ key: 'shhh', body: BODY });
    const rotated = stripe.replace('v1=', `v1=${'0'.repeat(64)},v1=`);
    expect(await verify({ scheme: 'stripe', secret: 'shhh' }, [['Stripe-Signature', rotated]])).toMatchObject({
      verdict: 'valid',
    });
    const standard = byStandard({ key: KEY, body: BODY }).map(([name, value]): [string, string] => [
      name,
      name === 'webhook-signature' ? `v1a,other v1,${'A'.repeat(43)}= ${value}` : value,
    ]);
    expect(await verify({ scheme: 'standard-webhooks', secret: STANDARD }, standard)).toMatchObject({
      verdict: 'valid',
    });
  });

  test("is in Svix's headers, unless there are standard ones", async () => {
    const inSvix = (sender: Sender): RawHeaders =>
      byStandard(sender).map(([name, value]): [string, string] => [name.replace('webhook', 'svix'), value]);
    const standard = { scheme: 'standard-webhooks', secret: STANDARD } as const;
    const own = { key: KEY, body: BODY };
    const other = { key: 'another', body: BODY };
    expect(await verify(standard, inSvix(own))).toMatchObject({ verdict: 'valid' });
    expect(await verify(standard, [...inSvix(other), ...byStandard(own)])).toMatchObject({ verdict: 'valid' });
    expect(await verify(standard, [...inSvix(own), ...byStandard(other)])).toMatchObject({ verdict: 'invalid' });
  });

  test('is in a header of another scheme', async () => {
    const headers = byGithub({ key: 'shhh', body: BODY });
    expect(await verify({ scheme: 'stripe', secret: 'shhh' }, headers)).toEqual({
      scheme: 'stripe',
      verdict: 'missing',
      reason: 'The request has no Stripe-Signature header. It seems to be signed as GitHub signs.',
    });
    expect(await verify({ ...signing, header: 'X-Other' }, [['X-Acme-Signature', hex]])).toMatchObject({
      verdict: 'missing',
      reason: expect.stringContaining('with HMAC-SHA256 in the header X-Acme-Signature.'),
    });
  });

  test.each<[SigningSecret['scheme'], RawHeaders, string]>([
    ['stripe', [['Stripe-Signature', 'hello']], "The Stripe-Signature header can't be read."],
    ['stripe', [['Stripe-Signature', 't=,v1=abc']], "The Stripe-Signature header can't be read."],
    ['stripe', [['Stripe-Signature', 't=1800000000,v0=abc']], "The Stripe-Signature header can't be read."],
    ['github', [['X-Hub-Signature-256', 'abc']], "The X-Hub-Signature-256 header can't be read."],
    ['slack', [['X-Slack-Signature', 'v0=abc']], 'The request has no X-Slack-Request-Timestamp header.'],
    [
      'slack',
      [
        ['X-Slack-Signature', 'v0=abc'],
        ['X-Slack-Request-Timestamp', 'today'],
      ],
      "The X-Slack-Request-Timestamp header can't be read.",
    ],
    [
      'slack',
      [
        ['X-Slack-Signature', 'abc'],
        ['X-Slack-Request-Timestamp', '1800000000'],
      ],
      "The X-Slack-Signature header can't be read.",
    ],
    ['standard-webhooks', [['webhook-signature', 'v1,abc']], 'The request has no webhook-id header.'],
    [
      'standard-webhooks',
      [
        ['webhook-id', 'msg_1'],
        ['webhook-timestamp', '1800000000'],
        ['webhook-signature', 'abc'],
      ],
      "The webhook-signature header can't be read.",
    ],
  ])("can't be read: %s %j", async (scheme, headers, sentence) => {
    expect(await reasonOf({ scheme, secret: 'shhh' }, headers)).toContain(sentence);
  });
});

describe('the time', () => {
  const sign = (at: number) => byStripe({ key: 'shhh', body: BODY, at });
  const signing = { scheme: 'stripe', secret: 'shhh' } as const;

  test('is at most 300 s before the capture', async () => {
    expect(await verify(signing, sign(NOW - 300))).toMatchObject({ verdict: 'valid' });
    expect(await verify(signing, sign(NOW + 100_000))).toMatchObject({ verdict: 'valid' });
    expect(await reasonOf(signing, sign(NOW - 301))).toBe(
      'The signature matches, but its timestamp is 5 minutes and 1 second older than the capture. Receivers accept at most 5 minutes.',
    );
    expect(await reasonOf(signing, sign(NOW - 720))).toContain('is 12 minutes older than the capture.');
    expect(await reasonOf(signing, sign(NOW - 3 * 86_400))).toContain('3 days older');
    const slack = bySlack({ key: 'shhh', body: BODY, at: NOW - 720 });
    expect(await reasonOf({ scheme: 'slack', secret: 'shhh' }, slack)).toContain('12 minutes older');
  });

  test('of Standard Webhooks is not far in the future either', async () => {
    const standard = { scheme: 'standard-webhooks', secret: STANDARD } as const;
    const at = (seconds: number) => byStandard({ key: KEY, body: BODY, at: NOW + seconds });
    expect(await verify(standard, at(300))).toMatchObject({ verdict: 'valid' });
    expect(await reasonOf(standard, at(600))).toContain('10 minutes after the capture');
    expect(await reasonOf(standard, byStandard({ key: KEY, body: BODY, at: NOW * 1000 }))).toBe(
      'The signature matches, but its timestamp is in milliseconds. Receivers read it as seconds, so it is far in the future.',
    );
  });
});

describe('the body was changed after signing', () => {
  const value: unknown = JSON.parse('{"a":1,"b":["x/y","ü"],"c":{},"d":[]}');
  const compact = JSON.stringify(value);
  const pretty = JSON.stringify(value, null, 2);
  const php = compact.replaceAll('/', '\\/').replace('ü', '\\u00fc');

  test.each([
    ['compact JSON', compact, pretty],
    ['pretty-printed JSON (2 spaces)', pretty, compact],
    ['pretty-printed JSON (4 spaces)', JSON.stringify(value, null, 4), compact],
    ['pretty-printed JSON (tabs)', JSON.stringify(value, null, '\t'), compact],
    ['JSON on one line with spaces', '{"a": 1, "b": ["x/y", "ü"], "c": {}, "d": []}', pretty],
    ['compact JSON with \\u and \\/ escapes', php, compact],
    ['compact JSON of JSON.stringify', compact, php.replace('{', '{ ')],
    ['text with a line break at its end', 'a\n', 'a'],
    ['text without the last line break', 'a', 'a\r\n'],
    ['text with LF line ends', 'a\nb\n', 'a\r\nb\r\n'],
    ['an empty body', '', '{}'],
  ])('as %s it matches', async (name, signed, received) => {
    const headers = byGithub({ key: 'shhh', body: signed });
    expect(await reasonOf({ scheme: 'github', secret: 'shhh' }, headers, received)).toBe(
      `The body was changed after signing: as ${name} it matches the signature. Sign exactly the bytes that are sent.`,
    );
  });

  test('keeps numbers and strings that JSON.parse would change', async () => {
    const signed = COMPACT.replace('"empty":[]', '"empty": []');
    const headers = byStripe({ key: 'shhh', body: COMPACT });
    expect(await reasonOf({ scheme: 'stripe', secret: 'shhh' }, headers, signed)).toContain('as compact JSON it');
  });

  test.each(['['.repeat(60_000) + ']'.repeat(60_000), '{"a":'.repeat(1000), `"${'x'.repeat(300_000)}"`, '\0\xff', ''])(
    'a body that no layout explains ends with the general sentence: %#',
    async (body) => {
      const headers = byGithub({ key: 'another', body: BODY });
      expect(await reasonOf({ scheme: 'github', secret: 'shhh' }, headers, body)).toBe(
        'The signature does not match. Either the secret is not the one that the sender signs with, or the body was changed after signing.',
      );
    },
  );
});

function allRun(task: Readonly<RunnerTask>): boolean {
  return 'tasks' in task ? task.tasks.every(allRun) : task.mode === 'run';
}

// After all tests, in any order. Each reason was given for a mistake in one of them.
// oxlint-disable-next-line no-empty-pattern -- Vitest requires a pattern.
afterAll(({}, file) => {
  if (!allRun(file)) return;
  const PLACE = '\0';
  const missing = Object.entries(REASONS).filter(([, write]) => {
    const sentence = String(Reflect.apply(write, undefined, [PLACE, PLACE, PLACE]));
    const literal = sentence.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const pattern = new RegExp(literal.replaceAll(PLACE, '.*'), 's');
    return !given.some((reason) => pattern.test(reason));
  });
  if (missing.length > 0) throw new Error(`No test got the reasons ${missing.map(([name]) => name).join(', ')}.`);
});
