/** Ways to write or reach addresses of this machine, for tests of everything that sends requests. */

/** Hosts of URLs that lead to this machine. */
export const INTERNAL_HOSTS: readonly string[] = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '0',
  '0.0.0.0',
  '[::ffff:127.0.0.1]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  'localhost',
  'foo.localhost.',
  '127.0.0.1.',
  '127%2e0.0.1',
  '127。0。0。1',
];

/** What names resolve to, each with a description. The lists are the successive DNS responses. */
export const INTERNAL_NAMES: readonly (readonly [what: string, answers: string[][]])[] = [
  ['a name that leads inside', [['127.0.0.1']]],
  ['a name that leads outside and inside', [['8.8.8.8', '127.0.0.1']]],
  ['a name whose IPv6 leads inside', [['8.8.8.8', '::1']]],
  ['IPv4 within IPv6', [['::ffff:127.0.0.1']]],
  ['metadata', [['169.254.169.254']]],
];

/** Targets that are refused even where private networks are allowed. The name `metadata.example` leads to one. */
export const FORBIDDEN_URLS: readonly string[] = [
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://168.63.129.16/',
  'http://100.100.100.200/',
  'http://[fe80::1]/',
  'http://metadata.example/',
];
