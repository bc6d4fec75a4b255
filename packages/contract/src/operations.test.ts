import { describe, expect, test } from 'vitest';
import { fillPath, OPERATIONS } from './operations.ts';
import { problemsOf, statusOf } from './operations/operation.ts';
import type { Operation } from './operations/operation.ts';
import { PROBLEMS } from './problems.ts';

const rows: [string, Operation][] = Object.entries(OPERATIONS);

describe('fillPath', () => {
  test.each([
    ['/api/user', {}, '/api/user'],
    ['/api/endpoints/{uid}', { uid: 'aB-_9' }, '/api/endpoints/aB-_9'],
    [
      '/api/endpoints/{uid}/requests/{id}/body',
      { uid: 'u', id: -1_000_001 },
      '/api/endpoints/u/requests/-1000001/body',
    ],
    ['/api/endpoints/{uid}', { uid: 'a/b?c#d e' }, '/api/endpoints/a%2Fb%3Fc%23d%20e'],
    ['/api/endpoints/{uid}', { uid: '%2e' }, '/api/endpoints/%252e'],
    ['/api/endpoints/{uid}', { uid: 'ü😀' }, '/api/endpoints/%C3%BC%F0%9F%98%80'],
    ['/api/endpoints/{uid}', { uid: '$&' }, '/api/endpoints/%24%26'],
  ])('%s with %j: %s', (template, params, path) => {
    expect(fillPath(template, params)).toBe(path);
  });

  test.each(['.', '..'])('%s stays a segment of the path', (uid) => {
    const path = fillPath('/api/endpoints/{uid}/requests', { uid });
    expect(new URL(path, 'http://h').pathname).toBe(path);
  });

  test('a missing value is a TypeError', () => {
    expect(() => fillPath('/api/endpoints/{uid}', {})).toThrow(TypeError);
  });
});

describe('the table of operations', () => {
  test('no two rows have the same method and path', () => {
    const addresses = rows.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  test.each(rows)('%s is complete', (_name, row) => {
    expect(row.path).toMatch(/^\/api(\/[a-z.-]+|\/\{(uid|id|deliveryId)\})+$/);
    expect(row.summary).not.toBe('');
    expect([202, 204].includes(statusOf(row))).toBe(row.answer === undefined);
    expect(problemsOf(row).filter((code) => !Object.hasOwn(PROBLEMS, code))).toEqual([]);
    expect(row.body === undefined || row.method !== 'GET').toBe(true);
  });

  test.each(rows.filter(([, { path }]) => path.includes('{uid}')))('%s is only for the owner', (_name, row) => {
    expect(row.access).toBeUndefined();
    expect(problemsOf(row)).toContain('ENDPOINT_NOT_FOUND');
    const missing = row.path.includes('/destinations/') ? 'DESTINATION_NOT_FOUND' : 'REQUEST_NOT_FOUND';
    expect(problemsOf(row).includes(missing) || !row.path.includes('{id}')).toBe(true);
  });

  test('contains every documented call', () => {
    const calls = `GET /api/user, POST /api/login, POST /api/register, POST /api/logout, POST /api/google-login,
      GET /api/endpoints, POST /api/endpoints, GET /api/endpoints/{uid}, DELETE /api/endpoints/{uid}, DELETE /api/endpoints/{uid}/requests,
      PATCH /api/endpoints/{uid}, GET /api/endpoints/{uid}/requests, GET /api/endpoints/{uid}/temp-requests,
      POST /api/endpoints/{uid}/save-request, DELETE /api/endpoints/{uid}/requests/{id}, POST /api/replay,
      PUT /api/profile/username, PUT /api/profile/password, GET /api/user/settings, POST /api/user/settings, POST /api/test-email,
      POST /api/subscription/checkout, POST /api/subscription/portal, POST /api/subscription/change`;
    const known = new Set(rows.map(([, { method, path }]) => `${method} ${path}`));
    expect(calls.split(/,\s+/).filter((call) => !known.has(call))).toEqual([]);
  });
});

test.each(Object.entries(PROBLEMS))(
  '%s has a status for failures and a whole sentence',
  (code, { status, sentence }) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(sentence).toMatch(/^[A-Z].*[a-z.]$/);
  },
);
