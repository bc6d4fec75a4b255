import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { SESSIONS, clientConfig } from './session.ts';

const connectionOf = (url: string) => new pg.Client(clientConfig(url, SESSIONS.read));

test.each([
  ['postgres://u:a%2Fb c@[::1]:5433/d', { host: '::1', port: 5433, password: 'a/b c', database: 'd' }],
  ['postgres://u:%2Fü%zz@h/my db', { host: 'h', password: '/ü%zz', database: 'my db' }],
  ['postgres://u:1%2F2@localhost/d?host=/run/my folder', { host: '/run/my folder', password: '1/2' }],
])('%s is read with all of its characters', (url, expected) => {
  expect(connectionOf(url)).toMatchObject(expected);
});

test.each([
  ['', false],
  ['?sslmode=disable', false],
  ['?sslmode=require', {}],
  ['?sslmode=verify-ca', {}],
  ['?sslmode=verify-full', {}],
  ['?sslmode=no-verify', { rejectUnauthorized: false }],
  ['?uselibpqcompat=true&sslmode=require', { rejectUnauthorized: false }],
])('TLS of a URL with %j is %j, without a warning', (parameters, ssl) => {
  const warning = vi.spyOn(process, 'emitWarning').mockReturnValue();
  expect(connectionOf(`postgres://u:p@h/d${parameters}`).ssl).toEqual(ssl);
  expect(warning).not.toHaveBeenCalled();
  warning.mockRestore();
});
