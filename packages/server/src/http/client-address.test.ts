import { describe, expect, test } from 'vitest';
import { clientAddressReader, normalAddress, addressBlock } from './client-address.ts';

/** The client address of a request from this peer with this header. */
function addressOf(
  trusted: readonly string[],
  remoteAddress: string | undefined,
  forwarded?: string | string[],
): string {
  const lines = forwarded === undefined ? [] : [forwarded].flat();
  const rawHeaders = ['Host', 'h', ...lines.flatMap((line) => ['X-Forwarded-For', line])];
  return clientAddressReader(trusted)({ rawHeaders, socket: { remoteAddress } });
}

const PROXY = ['10.0.0.0/8', '::1'];

describe('without TRUST_PROXY the header is ignored', () => {
  test.each([
    ['203.0.113.5', '1.2.3.4', '203.0.113.5'],
    ['127.0.0.1', '1.2.3.4', '127.0.0.1'],
    ['::ffff:203.0.113.5', '1.2.3.4', '203.0.113.5'],
    ['2001:db8::5', undefined, '2001:db8::5'],
    [undefined, '1.2.3.4', ''],
  ])('peer %s, header %s: %s', (peer, forwarded, address) => {
    expect(addressOf([], peer, forwarded)).toBe(address);
  });
});

describe('a peer that is not a trusted proxy is not believed', () => {
  test.each([
    ['11.0.0.1', '1.2.3.4'],
    ['9.255.255.255', '10.0.0.1'],
    ['::2', '1.2.3.4'],
    ['2001:db8::1', '1.2.3.4, 10.0.0.1'],
  ])('%s says %s', (peer, forwarded) => {
    expect(addressOf(PROXY, peer, forwarded)).toBe(peer);
  });
});

describe('behind trusted proxies it is the nearest untrusted address', () => {
  test.each<[string, string | string[] | undefined, string]>([
    ['10.0.0.1', '203.0.113.5', '203.0.113.5'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.255.255.255', '203.0.113.5', '203.0.113.5'],
    ['10.0.0.1', '203.0.113.5, 10.0.0.2, 10.0.0.3', '203.0.113.5'],
    ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['::ffff:10.0.0.1', '203.0.113.5', '203.0.113.5'],
    ['::1', '203.0.113.5', '203.0.113.5'],
    ['10.0.0.1', '  203.0.113.5  ', '203.0.113.5'],
    ['10.0.0.1', ['198.51.100.7', '203.0.113.5'], '203.0.113.5'],
    ['10.0.0.1', '2001:db8::5', '2001:db8::5'],
    ['10.0.0.1', '2001:DB8:0:0::5', '2001:db8::5'],
    ['10.0.0.1', '::ffff:203.0.113.5', '203.0.113.5'],
    ['10.0.0.1', '::FFFF:cb00:7105', '203.0.113.5'],
    ['10.0.0.1', '203.0.113.5, ::ffff:10.0.0.9', '203.0.113.5'],
    ['10.0.0.1', '203.0.113.5:4711', '203.0.113.5'],
    ['10.0.0.1', '[2001:db8::5]:4711', '2001:db8::5'],
    ['10.0.0.1', '[2001:db8::5]', '2001:db8::5'],
  ])('peer %s, header %s: %s', (peer, forwarded, address) => {
    expect(addressOf(PROXY, peer, forwarded)).toBe(address);
  });
});

describe('entries that the client wrote are ignored', () => {
  test.each([
    ['an address before the one that the proxy added', '1.2.3.4, 203.0.113.5', '203.0.113.5'],
    ['a proxy of ours before it', '10.0.0.9, 203.0.113.5', '203.0.113.5'],
    ['many of them', `${'1.2.3.4, '.repeat(500)}203.0.113.5`, '203.0.113.5'],
    ['rubbish before it', "'; drop table, 203.0.113.5", '203.0.113.5'],
  ])('%s', (_what, forwarded, address) => {
    expect(addressOf(PROXY, '10.0.0.1', forwarded)).toBe(address);
  });

  test.each([
    'unknown',
    '_hidden',
    '256.1.1.1',
    '1.2.3',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '1.2.3.4.5',
    '1.2.3.4:',
    '1.2.3.4:999999',
    '[1.2.3.4',
    ':::',
    'localhost',
    '<script>',
    ',',
  ])('%s is no address: the proxy that sent it counts', (forwarded) => {
    expect(addressOf(PROXY, '10.0.0.1', forwarded)).toBe('10.0.0.1');
    expect(addressOf(PROXY, '10.0.0.1', `1.2.3.4, ${forwarded}, 10.0.0.2`)).toBe('10.0.0.2');
  });
});

describe('forms of TRUST_PROXY', () => {
  test.each([
    ['one address', ['192.0.2.1'], '192.0.2.1', true],
    ['and no other', ['192.0.2.1'], '192.0.2.2', false],
    ['a range', ['192.0.2.0/25'], '192.0.2.127', true],
    ['up to its end', ['192.0.2.0/25'], '192.0.2.128', false],
    ['everything of a family', ['0.0.0.0/0'], '8.8.8.8', true],
    ['but not of the other', ['0.0.0.0/0'], '2001:db8::1', false],
    ['an IPv6 range', ['2001:db8::/32'], '2001:db8:ffff::1', true],
    ['up to its end', ['2001:db8::/32'], '2001:db9::1', false],
    ['an IPv6 address in any form', ['2001:db8:0::1'], '2001:db8::1', true],
    ['IPv4 written as IPv6', ['::ffff:192.0.2.0/120'], '192.0.2.9', true],
    ['one such address', ['::ffff:192.0.2.9'], '192.0.2.9', true],
    ['wider than all of IPv4, written as IPv6: no IPv4', ['::ffff:0.0.0.0/95'], '192.0.2.9', false],
    ['any IPv6 address: no IPv4', ['::/0'], '192.0.2.9', false],
    ['a link-local address with its interface', ['fe80::/10'], 'fe80::1%eth0', true],
    ['several', ['192.0.2.1', '198.51.100.0/24'], '198.51.100.9', true],
  ] as const)('%s: %j and %s', (_what, trusted, peer, believed) => {
    expect(addressOf(trusted, peer, '203.0.113.5')).toBe(believed ? '203.0.113.5' : peer);
  });
});

test('after thousands of other addresses the verdicts are the same', () => {
  const trusted = ['10.0.0.0/8'];
  const peers = Array.from({ length: 3000 }, (_, nth) => `${nth % 2 === 0 ? 10 : 11}.0.${nth >> 8}.${nth & 255}`);
  for (const peer of [...peers, ...peers])
    expect(addressOf(trusted, peer, '203.0.113.5')).toBe(peer.startsWith('10.') ? '203.0.113.5' : peer);
});

test.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::ffff:7f00:1', '::ffff:7f00:1'],
])('%s is shown as %s', (address, shown) => {
  expect(normalAddress(address)).toBe(shown);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
  ['/run/creel.sock', '/run/creel.sock'],
])('%s counts as %s', (address, block) => {
  expect(addressBlock(address)).toBe(block);
});
