// Helpers for tests with captured requests: create an endpoint, send to it, open its page.
import { capturedRequestSchema, destinationSchema, endpointSchema, unsavedId } from '@creel/contract';
import type { CapturedRequest, Destination, Endpoint, OperationInput } from '@creel/contract';
import { expect } from '@playwright/test';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { openRaw, rawRequest } from '../fixtures/raw-http.ts';

/** Creates an endpoint for the logged-in user. With an empty name, it has none. */
export async function createEndpoint(
  { request }: Pick<BrowserContext, 'request'>,
  name = 'Journey',
  source?: string,
): Promise<Endpoint> {
  const answer = await request.post('/api/endpoints', { data: { name, source } });
  expect(answer.status(), await answer.text()).toBe(201);
  return endpointSchema.parse(await answer.json());
}

/** Changes an endpoint as another page of its user does. */
export async function changeEndpoint(
  { request }: Pick<BrowserContext, 'request'>,
  { uid }: Endpoint,
  data: OperationInput<'changeEndpoint'>['body'],
): Promise<void> {
  const answer = await request.patch(`/api/endpoints/${uid}`, { data });
  expect(answer.status(), await answer.text()).toBe(200);
}

/** Adds a destination to an endpoint as another page of its user does. */
export async function createDestination(
  { request }: Pick<BrowserContext, 'request'>,
  { uid }: Endpoint,
  data: OperationInput<'createDestination'>['body'],
): Promise<Destination> {
  const answer = await request.post(`/api/endpoints/${uid}/destinations`, { data });
  expect(answer.status(), await answer.text()).toBe(201);
  return destinationSchema.parse(await answer.json());
}

/** Sends a request to a capture URL. Returns its index. */
export async function send(captureUrl: string, init: RequestInit & { path?: string } = {}): Promise<number> {
  const answer = await fetch(captureUrl + (init.path ?? ''), { method: 'POST', ...init });
  expect(answer.status).toBe(200);
  return Number(answer.headers.get('x-creel-request'));
}

/** Sends JSON to a capture URL. Returns the index of the request. */
export function sendJson(captureUrl: string, value: unknown, path = ''): Promise<number> {
  return send(captureUrl, { path, body: JSON.stringify(value), headers: { 'content-type': 'application/json' } });
}

/**
 * Sends requests with the paths /order/0 to /order/{count - 1}, in this order with one connection, else nearly. Each connection sends
 * without waiting for responses, which takes a fifth of the time.
 */
export async function sendMany(captureUrl: string, count: number, connections = 8): Promise<void> {
  const { port, pathname } = new URL(captureUrl);
  const request = (at: number): Buffer => {
    const body = JSON.stringify({ at, needle: `needle-${at}-` });
    const fields = ['Host: h', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    return rawRequest([`POST ${pathname}/order/${at} HTTP/1.1`, ...fields], body);
  };
  const numbers = Array.from({ length: count }, (_, at) => at);
  await Promise.all(
    Array.from({ length: connections }, async (_, sender) => {
      const own = numbers.filter((at) => at % connections === sender);
      const connection = await openRaw({ port: Number(port) });
      await connection.send(Buffer.concat(own.map(request)));
      for (const at of own) expect((await connection.final()).status, `request ${at}`).toBe(200);
      connection.close();
    }),
  );
}

/** Reports an attempt to deliver an unsaved request, as `creel forward` does. */
export async function reportAttempt(page: Page, endpoint: Endpoint, index: number, status = 200): Promise<void> {
  const path = `/api/endpoints/${endpoint.uid}/requests/${unsavedId(index)}/deliveries`;
  const attempt = { url: 'http://localhost:4000', method: 'POST', attempt: 1, status, statusText: '', error: null };
  const response = { durationMs: 1, responseHeaders: [], responseBody: null, responseBodyEncoding: 'utf8' };
  const answer = await page.request.post(path, { data: { ...attempt, ...response, at: new Date().toISOString() } });
  expect(answer.status(), await answer.text()).toBe(201);
}

/** Expects that a text is not truncated. */
export async function expectShownWhole(parent: Locator, text: string): Promise<void> {
  const shown = parent.getByText(text);
  await expect(shown).toBeVisible();
  const missing = await shown.evaluate((element) => {
    const content = element.ownerDocument.createRange();
    content.selectNodeContents(element);
    const { width, right } = content.getBoundingClientRect();
    const cutAt: number[] = [];
    for (let box: typeof element | null = element; box !== null; box = box.parentElement) {
      const style = element.ownerDocument.defaultView?.getComputedStyle(box);
      if (style?.overflowX !== 'visible' && style?.display !== 'contents')
        cutAt.push(box.getBoundingClientRect().right);
    }
    // A part of a pixel too little cuts characters off.
    return Math.max(width - element.getBoundingClientRect().width, right - Math.min(...cutAt));
  });
  expect(missing).toBeLessThanOrEqual(0);
}

/** Returns the unsaved requests of an endpoint, newest first. */
export async function unsaved({ request }: Pick<BrowserContext, 'request'>, uid: string): Promise<CapturedRequest[]> {
  const answer = await request.get(`/api/endpoints/${uid}/temp-requests?limit=500`);
  return capturedRequestSchema.array().parse(await answer.json());
}

/** The list of captured requests. */
export const list = (page: Page): Locator => page.getByRole('grid', { name: 'Captured requests' });

/** Repeats an event on the list, as of a user who is busy there, until the returned function is called. */
export async function stayBusy(page: Page, event: 'pointermove' | 'keydown'): Promise<() => Promise<void>> {
  const made =
    event === 'keydown'
      ? "new KeyboardEvent('keydown', { key: 'Shift', bubbles: true })"
      : "new PointerEvent('pointermove', { bubbles: true })";
  await page.evaluate(
    `globalThis.busy = setInterval(() => document.querySelector('[role=grid]')?.dispatchEvent(${made}), 100)`,
  );
  return () => page.evaluate('clearInterval(globalThis.busy)');
}

/** The rows of the list that are rendered. */
export const rows = (page: Page): Locator => page.locator('[role="row"][data-index]');

/** The field that filters the list. */
export const filterField = (page: Page): Locator => page.getByRole('combobox', { name: 'Filter the list' });

/** The actions on the selected requests, above the list. */
export const selectionBar = (page: Page): Locator => page.getByRole('toolbar', { name: 'Selected requests' });

/** The row of a request in the list. */
export function row(page: Page, index: number): Locator {
  return page.locator(`[role="row"][data-index="${index}"]`);
}

/** The details of a request. */
export function detailsOf(page: Page, index: number): Locator {
  return page.getByRole('region', { name: `Request ${index}`, exact: true });
}

/** Goes to a path within the app, because a load of the page takes three times as long. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
}

const expectLive = (page: Page): Promise<void> =>
  expect(
    page.getByText('Live', { exact: true }).or(page.getByText('Live: waiting for the first request')),
  ).toBeVisible();

/** Opens the endpoint's page and waits until it is live. */
export async function openLive(page: Page, endpoint: Endpoint, search = ''): Promise<void> {
  await page.goto(`/endpoints/${endpoint.uid}${search}`);
  await expectLive(page);
}

/** Goes to the endpoint's page within the app, with the pointer outside of the list, and waits until it is live. */
export async function goLive(page: Page, endpoint: Endpoint, search = ''): Promise<void> {
  await page.mouse.move(0, 0);
  await goTo(page, `/endpoints/${endpoint.uid}${search}`);
  await expect(page.getByRole('region', { name: 'Endpoint URL' })).toContainText(endpoint.uid);
  await expectLive(page);
}
