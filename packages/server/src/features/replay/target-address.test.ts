import { describe, expect, test } from 'vitest';
import { isAllowed, reachOf } from './target-address.ts';
import type { Reach } from './target-address.ts';

/** The host of a URL without brackets. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');

/** Forms of addresses, with their class. */
const FORMS: readonly (readonly [url: string, reach: Reach])[] = [
  ['http://127.0.0.1/', 'private'],
  ['http://127.127.127.127/', 'private'],
  ['http://127.1/', 'private'],
  ['http://127.0.1/', 'private'],
  ['http://0/', 'private'],
  ['http://0.0.0.0/', 'private'],
  ['http://0.1.2.3/', 'never'],
  ['http://2130706433/', 'private'],
  ['http://017700000001/', 'private'],
  ['http://0177.0.0.1/', 'private'],
  ['http://0x7f000001/', 'private'],
  ['http://0x7f.0x0.0x0.0x1/', 'private'],
  ['http://127.0.0.1./', 'private'],
  ['http://127%2e0%2e0%2e1/', 'private'],
  ['http://127。0。0。1/', 'private'],
  ['http:\\\\127.0.0.1\\', 'private'],
  ['http:127.0.0.1/', 'private'],
  ['http:///127.0.0.1/', 'private'],
  ['http://127.0.0.1#@good.example/', 'private'],
  ['http://[::]/', 'private'],
  ['http://[::1]/', 'private'],
  ['http://[0000:0000:0000:0000:0000:0000:0000:0001]/', 'private'],
  ['http://[::ffff:127.0.0.1]/', 'private'],
  ['http://[0:0:0:0:0:ffff:169.254.169.254]/', 'never'],
  ['http://[::127.0.0.1]/', 'never'],
  ['http://[64:ff9b::7f00:1]/', 'never'],
  ['http://[64:ff9b:1::a9fe:a9fe]/', 'never'],
  ['http://[2002:7f00:1::]/', 'never'],
  ['http://[fe80::1]/', 'never'],
  ['http://[fec0::1]/', 'never'],
  ['http://[fc00::1]/', 'private'],
  ['http://[fd00:ec2::254]/', 'never'],
  ['http://[fd20:ce::254]/', 'never'],
  ['http://[ff02::1]/', 'never'],
  ['http://[100::1]/', 'never'],
  ['http://[2001:db8::1]/', 'never'],
  ['http://[2001::1]/', 'never'],
  ['http://[5f00::1]/', 'never'],
  ['http://[4000::1]/', 'never'],
  ['http://169.254.169.254/', 'never'],
  ['http://2852039166/', 'never'],
  ['http://0xa9fea9fe/', 'never'],
  ['http://100.100.100.200/', 'never'],
  ['http://168.63.129.16/', 'never'],
  ['http://10.0.0.1/', 'private'],
  ['http://172.16.0.0/', 'private'],
  ['http://172.17.0.1/', 'private'],
  ['http://172.31.255.255/', 'private'],
  ['http://192.168.0.1/', 'private'],
  ['http://100.64.0.1/', 'private'],
  ['http://192.0.0.1/', 'never'],
  ['http://198.18.0.1/', 'private'],
  ['http://203.0.113.1/', 'never'],
  ['http://224.0.0.1/', 'never'],
  ['http://240.0.0.1/', 'never'],
  ['http://255.255.255.255/', 'never'],
  ['http://8.8.8.8/', 'public'],
  ['http://172.15.255.255/', 'public'],
  ['http://172.32.0.0/', 'public'],
  ['http://198.20.0.1/', 'public'],
  ['http://[2606:4700:4700::1111]/', 'public'],
  ['http://[::ffff:8.8.8.8]/', 'public'],
];

describe('the class of an address in any form', () => {
  test.each(FORMS)('%s: %s', (url, reach) => {
    expect(reachOf(hostOf(url))).toBe(reach);
  });

  test('from outside only the internet is reachable; private targets add only their networks', () => {
    const reached = (allowPrivate: boolean): string[] =>
      FORMS.filter(([url]) => isAllowed(hostOf(url), allowPrivate)).map(([url]) => url);
    expect(reached(false)).toEqual(FORMS.filter(([, reach]) => reach === 'public').map(([url]) => url));
    expect(reached(true)).toEqual(FORMS.filter(([, reach]) => reach !== 'never').map(([url]) => url));
  });
});

test.each(['', 'localhost', 'good.example', '1.2.3', 'fe80::1%eth0', '::ffff:127.0.0.1.'])(
  '%j is no address, and leads nowhere',
  (text) => {
    expect(reachOf(text)).toBe('never');
  },
);
