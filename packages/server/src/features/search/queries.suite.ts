import { parseQuery } from '@creel/contract';
import type { Query } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import { ProblemError } from '../../http/problem.ts';
import { searchRequests } from './service.ts';
import type { SearchRequest } from './service.ts';
import type { FoundRecord } from './service.ts';
import type { AppStore } from '../../queries.ts';
import { T0, capture, captureMany, indexesOf, someEndpoint, someUser } from '../../../test/store-world.ts';
import type { Sent } from '../../../test/store-world.ts';

/** Search over everything a user has stored (docs/query-language.md). */
export function searchSuite(store: AppStore): void {
  const ask = async (userId: number, query: Query, more: Partial<SearchRequest> = {}) =>
    searchRequests(
      store,
      // Without a time limit, because on a busy machine it would end a search early.
      { userId, query, limit: 100, maxRows: 20_000, maxMs: Infinity, signal: new AbortController().signal, ...more },
      T0,
    );
  const find = async (
    userId: number,
    text: string,
    more: Partial<SearchRequest> = {},
  ): Promise<readonly FoundRecord[]> => (await ask(userId, { kind: 'text', text }, more)).found;

  /** One request of a new user, and whether each text finds it. */
  async function finds(sent: Omit<Sent, 'to'>, ...texts: string[]): Promise<boolean[]> {
    const { id, userId } = await someEndpoint(store);
    await capture(store, [{ to: id, ...sent }]);
    const found = await Promise.all(texts.map((text) => find(userId, text)));
    return found.map((records) => records.length === 1);
  }

  describe('search', () => {
    test.each<[string, Omit<Sent, 'to'>, string[], string[]]>([
      ['method', { method: 'PROPFIND' }, ['PROPFIND', 'propf', 'OPF'], ['PROPPATCH', 'POST']],
      ['path', { target: '/Orders/42?x=1' }, ['/orders/42', 'ORDERS', '42?X=1'], ['/order/42', '43']],
      [
        'a body over 2 MiB, also where its pieces meet',
        { body: `${'a'.repeat(1024 * 1024 - 4)}boundary${'b'.repeat(1024 * 1024)}end` },
        ['boundary', 'aboundaryb', 'bend'],
        ['boundarya', 'endb'],
      ],
      ['an empty path, which is a slash', { target: '?a=1' }, ['/', '/?a', '/?A=1'], ['//', '?b', '/a']],
      [
        'query, decoded too',
        { target: '/?Name=J%C3%BCrgen+K%2fM&q=%zz&r=x%20Y' },
        ['jürgen', 'Jürgen k/m', 'X y', 'J%C3%BC', '%c3%bc', '%ZZ', 'name'],
        ['jUrgen', 'k m'],
      ],
      [
        'a name of the query with its value, decoded',
        { target: '/?q=caf%C3%A9&pl=a+b&z=x%2Fy&mail=a%40b.co&u=http%3A//x/y%20z&one=1&v=http://w/' },
        ['q=café', 'pl=a b', 'z=x/y', 'mail=a@b.co', 'u=http://x/y z', 'http://x/y', 'v=http://w/', 'ONE=1'],
        ['q=a b', 'pl=a  b', 'z=http', 'e&p l'],
      ],
      [
        'a query however its sender encodes it',
        {
          target:
            '/?msg=it%27s&n=call%28%29&w=wow%21&m=x%2Ay&h=%7Euser&f[status]=a%20b&e=a@b.org,c%20d&p=one%20two+three&s=a%2Ab',
        },
        [
          "it's",
          'call()',
          'wow!',
          'x*y',
          '~user',
          'f[status]=a b',
          'a@b.org,c d',
          'one two three',
          's=a*b',
          'a*b',
          '()',
        ],
        ["it''s", 'call)', 'one two  three', 'three one', 'b*a'],
      ],
      [
        'header names and values',
        { headers: ['X-Event-Id', 'EvT_1'] },
        ['x-event', 'evt_1', 'EVT_', 'X-EVENT-ID'],
        ['evt-1'],
      ],
      ['header bytes as Latin-1', { headers: ['X', 'caf\xe9'] }, ['café', 'CAFé'], ['cafe', 'cafÉ']],
      [
        'header bytes as UTF-8',
        { headers: ['X', Buffer.from('naïve 🦀').toString('latin1')] },
        ['naïve', '🦀', 'NAïVE 🦀'],
        ['naive', 'NAÏVE'],
      ],
      [
        'body, whatever the case of its letters',
        { body: '{"Event":"Invoice.PAID"}' },
        ['invoice.paid', '"EVENT"', '}'],
        ['invoice_paid'],
      ],
      [
        'body beyond ASCII, whose case does matter',
        { body: 'Größe Ärger' },
        ['größe', 'GRößE', 'Ärger'],
        ['GRÖSSE', 'ärger'],
      ],
      ['body beyond its first page', { body: `${'x'.repeat(300_000)}needle` }, ['needle', 'xNEEDLE'], ['needles']],
      [
        'body with NUL',
        { body: 'left\0Right\0\0' },
        ['left', 'right', '\0', 't\0r', 't\0\0', '\0RIGHT\0\0'],
        ['leftright', '\0\0\0', '00', '000', '\\000'],
      ],
      [
        'body that is no UTF-8',
        { body: Buffer.from([0x41, 0xff, 0xfe, 0x42, 0xc3, 0x28]) },
        ['a', 'b'],
        ['ab', 'ÿ', '377', '\\377', '\\'],
      ],
      [
        'body with backslashes',
        { body: 'a\\b\\\\000c\\303\\251' },
        ['A\\B', '\\\\0', '\\000c', '\\', '\\\\000', '303\\251'],
        ['\\\\\\', '\0', 'é', '\\\\b'],
      ],
      [
        'digits beside bytes that are written with digits',
        { body: Buffer.from([0x00, 0x31, 0x80, 0x32]) },
        ['1', '2', '\0\x31'],
        ['0', '01', '00', '20', '12', '3'],
      ],
      [
        'signs that mean something elsewhere',
        { body: '100% [a-z]* (x|y)? $1 ^_ .+ {2}' },
        ['100%', '[a-z]*', '(X|Y)?', '$1 ^_', '.+ {2}'],
        ['1.0', 'a-z*', '%%', '10_%'],
      ],
    ])('in %s', async (_, sent, hits, misses) => {
      expect(await finds(sent, ...hits)).toEqual(hits.map(() => true));
      expect(await finds(sent, ...misses)).toEqual(misses.map(() => false));
    });

    test.each([
      [['get', 'Post'], true],
      [['PUT', 'PO'], false],
      [['\0'], false],
      [['P\0OST', '\ud800'], false],
    ])('the methods %j', async (methods, isFound) => {
      const { id, userId } = await someEndpoint(store);
      await capture(store, [{ to: id, method: 'POST' }]);
      const named: Query = { kind: 'method', methods };
      expect((await ask(userId, named)).found).toHaveLength(isFound ? 1 : 0);
      expect((await ask(userId, { kind: 'not', part: named })).found).toHaveLength(isFound ? 0 : 1);
    });

    test.each([
      ['json.n:1', true],
      ['json.n:10', false],
      ['json.deep.x:100', true],
      ['-json.n:1', false],
      [`after:${new Date(T0).toISOString()}`, true],
      [`after:${new Date(T0 + 1).toISOString()}`, false],
      [`before:${new Date(T0 + 1).toISOString()}`, true],
      [`before:${new Date(T0).toISOString()}`, false],
    ])('%s', async (text, isFound) => {
      const { id, userId } = await someEndpoint(store);
      await capture(store, [{ to: id, body: '{"n":1.0,"deep":{"x":1E2}}', at: T0 }]);
      const read = parseQuery(text);
      if (!read.ok) throw new Error(read.sentence);
      expect((await ask(userId, read.query)).found).toHaveLength(isFound ? 1 : 0);
    });

    test('not in the address, not in our own notes, and not across two parts', async () => {
      const sent: Omit<Sent, 'to'> = {
        method: 'PUT',
        target: '/p',
        sourceIp: '203.0.113.77',
        headers: ['A', 'b', 'Cd', 'e'],
        body: 'f',
      };
      const misses = ['203.0.113', '77', 'text', 'bytes', '/pA', 'Ab', 'bC', 'A\nb', '\n', 'ef', 'PUT/', '7\n/p'];
      expect(await finds(sent, ...misses)).toEqual(misses.map(() => false));
    });

    test('many near misses do not hide the match', async () => {
      const { id, userId } = await someEndpoint(store);
      const decoys = Array.from({ length: 50 }, () => ({ to: id, headers: ['X', 'a%20b'] }));
      await capture(store, [{ to: id, body: 'A B' }, ...decoys, { to: id, target: '/?q=a+b' }, ...decoys]);
      expect(indexesOf(await find(userId, 'a b', { limit: 7 }))).toEqual([51, 0]);
    });

    test('over all endpoints of the user, newest first, and no others’', async () => {
      const { id: userId } = await someUser(store);
      const [a, b] = [await someEndpoint(store, { userId }), await someEndpoint(store, { userId })];
      const other = await someEndpoint(store);
      await capture(
        store,
        [other, a, b, b, a, a].map((endpoint, nth) => ({ to: endpoint.id, body: 'same', at: T0 + nth })),
      );
      const found = await find(userId, 'SAME');
      expect(found.map((record) => [record.endpointUid, record.index])).toEqual([
        [a.uid, 2],
        [a.uid, 1],
        [b.uid, 1],
        [b.uid, 0],
        [a.uid, 0],
      ]);
      expect(found[0]).toMatchObject({ endpointId: a.id, receivedAt: T0 + 5, size: 4, method: 'POST', savedId: null });
      expect(indexesOf(await find(userId, 'SAME', { endpointId: b.id }))).toEqual([1, 0]);
      expect(await find(userId, 'SAME', { endpointId: other.id })).toEqual([]);
      expect(await find(2_000_000_000, 'same')).toEqual([]);
    });

    test('saved ones too; not deleted or cleared ones', async () => {
      const { id, userId } = await someEndpoint(store);
      await captureMany(store, id, 4);
      await store.saveRequest(id, 1, { maxSaved: 10, bodyBytes: 0 });
      await store.deleteRequest(id, { index: 2 });
      expect(indexesOf(await find(userId, 'number'))).toEqual([3, 1, 0]);
      await store.clearRequests(id);
      expect(await find(userId, 'number')).toEqual([]);
    });

    test.each([1, 2, 3, 7])(
      'in pages of %i everything comes exactly once, in order, also what came in the same millisecond',
      async (limit) => {
        const { id: userId } = await someUser(store);
        const endpoints = [
          await someEndpoint(store, { userId }),
          await someEndpoint(store, { userId }),
          await someEndpoint(store, { userId }),
        ];
        const turns = Array.from({ length: 30 }, (_, nth) => ({
          to: endpoints[(nth * 7) % 3]?.id ?? 0,
          body: nth % 5 === 0 ? 'miss' : 'hit',
          at: T0 + Math.floor(nth / 6),
        }));
        await capture(store, turns);
        const whole = await find(userId, 'hit');
        expect(whole).toHaveLength(24);
        const pages: FoundRecord[] = [];
        for (;;) {
          const before = pages.at(-1);
          const page = await find(userId, 'hit', { limit, before });
          pages.push(...page);
          if (page.length < limit) break;
        }
        expect(pages).toEqual(whole);
        expect(whole.map((record) => record.receivedAt)).toEqual(
          whole.map((record) => record.receivedAt).toSorted((a, b) => b - a),
        );
      },
    );

    test('a step has limits, and truncates bodies; the next one continues', async () => {
      const { id } = await someEndpoint(store);
      await captureMany(store, id, 10);
      const scan = { endpointId: id, query: { kind: 'body', text: 'number' }, now: T0, bodyBytes: 6 } as const;
      const most = { limit: 100, maxRows: 100, maxBytes: 1_000_000 };
      const first = await store.scanRequests({ ...scan, ...most, from: 9, maxRows: 4 });
      expect([indexesOf(first.found), first.searched, first.next]).toEqual([
        [9, 8, 7, 6],
        4,
        expect.objectContaining({ index: 5, receivedAt: T0 + 5 }),
      ]);
      expect(Buffer.from(first.found[0]?.body ?? []).toString()).toBe('number');
      const second = await store.scanRequests({ ...scan, ...most, from: 5, limit: 2 });
      expect([indexesOf(second.found), second.searched, second.next?.index]).toEqual([[5, 4], 2, 3]);
      const third = await store.scanRequests({ ...scan, ...most, from: 3, maxBytes: 1 });
      expect([indexesOf(third.found), third.searched, third.next?.index]).toEqual([[3], 1, 2]);
      const last = await store.scanRequests({ ...scan, ...most, from: 2 });
      expect([indexesOf(last.found), last.searched, last.next]).toEqual([[2, 1, 0], 3, undefined]);
      await store.clearRequests(id);
      expect(await store.scanRequests({ ...scan, ...most, from: 9 })).toMatchObject({ found: [], searched: 0 });
    });

    test('a search that ends early returns where to continue, and misses nothing', async () => {
      const { id: userId } = await someUser(store);
      const endpoints = [await someEndpoint(store, { userId }), await someEndpoint(store, { userId })];
      const turns = Array.from({ length: 40 }, (_, nth) => ({
        to: endpoints[(nth * 5) % 2]?.id ?? 0,
        body: nth % 13 === 0 ? 'rare' : 'miss',
        at: T0 + Math.floor(nth / 3),
      }));
      await capture(store, turns);
      const query: Query = { kind: 'text', text: 'rare' };
      const whole = await ask(userId, query);
      expect([whole.found.length, whole.searched, whole.next]).toEqual([4, 40, undefined]);
      const found: FoundRecord[] = [];
      let searched = 0;
      let before: SearchRequest['before'];
      do {
        const page = await ask(userId, query, { maxRows: 7, before });
        found.push(...page.found);
        searched += page.searched;
        before = page.next;
      } while (before !== undefined);
      expect(found).toEqual(whole.found);
      expect(searched).toBeGreaterThanOrEqual(40);
    });

    test('a short search does not wait for one that matches many terms against a large body', async () => {
      const [slow, other] = [await someEndpoint(store), await someEndpoint(store)];
      await capture(store, [
        { to: slow.id, body: `{"a":[${'{"b":1},'.repeat(30_000)}1]}` },
        { to: other.id, body: 'needle' },
      ]);
      const parts = Array.from({ length: 50 }, (_, nth): Query => {
        const value = { operator: '>', value: String(nth + 1) } as const;
        return { kind: 'not', part: { kind: 'json', path: ['any', 'any', { key: 'b' }], value } };
      });
      const ended: string[] = [];
      const long = ask(slow.userId, { kind: 'and', parts }).then(({ found }) => ended.push(`long ${found.length}`));
      const short = find(other.userId, 'needle').then((found) => ended.push(`short ${found.length}`));
      await Promise.all([long, short]);
      expect(ended).toEqual(['short 1', 'long 1']);
    });

    test('a body and a text that are both long', async () => {
      const text = `${'a'.repeat(900)}b${'a'.repeat(900)}`;
      const body = 'a'.repeat(2_000_000);
      expect(await finds({ body: `${body}b${body}` }, text, text.toUpperCase(), `${text}b`)).toEqual([
        true,
        true,
        false,
      ]);
      expect(await finds({ body: `${text}b` }, text, `${text}b`, `b${text}`)).toEqual([true, true, false]);
    });

    test('an abandoned search ends', async () => {
      const { id, userId } = await someEndpoint(store);
      await captureMany(store, id, 1);
      await expect(
        find(userId, 'number', { signal: AbortSignal.abort(new ProblemError('UNAVAILABLE')) }),
      ).rejects.toThrow('The server is busy');
    });
  });
}
