// A captured request is sent again, byte for byte or edited, and the page shows the response.
import { gzipSync } from 'node:zlib';
import { exchange } from '../fixtures/raw-http.ts';
import { startTarget } from '../fixtures/target-server.ts';
import { githubPush } from '../fixtures/webhooks/github-push.ts';
import { shopifyOrdersCreate } from '../fixtures/webhooks/shopify-orders-create.ts';
import { slackEvent } from '../fixtures/webhooks/slack-event.ts';
import { stripeInvoicePaid } from '../fixtures/webhooks/stripe-invoice-paid.ts';
import { toRawHttp } from '../fixtures/webhooks/webhook-fixture.ts';
import { expect, toast } from './app.ts';
import { createEndpoint, goLive, row, send, sendJson } from './endpoints.ts';
import { bodyField, methodField, openReplay, replayRow, response, sendButton, sendTo, urlField } from './replay.ts';
import { test } from './target.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const place = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });

test('a request goes out as it was captured or edited', async ({ page, person: _ }) => {
  await test.step('a captured request goes out byte for byte, with the case, order and repeats of its headers', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    const own = ['X-Twice: a', 'X-Latin: caf\xe9', 'x-twice: b', 'X-Utf: caf\xc3\xa9', 'X-TWICE: a'];
    const head = [
      `PUT ${new URL(endpoint.url).pathname}/a/../b%7e?x=1&x=%20+ HTTP/1.1`,
      `Host: ${new URL(endpoint.url).host}`,
      ...own,
      'Content-Type: application/octet-stream',
      'Keep-Alive: timeout=5',
      `Content-Length: ${EVERY_BYTE.length}`,
    ].join('\r\n');
    const raw = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), EVERY_BYTE]);
    expect((await exchange(place(endpoint.url), raw)).status).toBe(200);
    await openReplay(page, endpoint);
    await expect(urlField(page)).toHaveValue('https://example.com/a/../b%7e?x=1&x=%20+');
    await expect(methodField(page)).toHaveValue('PUT');
    await expect(page.getByText('As captured, 256 B of binary data, sent byte for byte')).toBeVisible();
    await sendTo(page, `${target.url}/a/../b%7e?x=1&x=%20+`);

    const [received] = target.received;
    expect(received?.method).toBe('PUT');
    expect(received?.url).toBe('/a/../b%7e?x=1&x=%20+');
    expect(received?.body).toEqual(EVERY_BYTE);
    const sent = received?.headers.map((header) => header.join(': ')) ?? [];
    // The first header is `Host`.
    expect(sent.slice(1, 3 + own.length)).toEqual([
      'Content-Type: application/octet-stream',
      'X-Webhook-Source: Creel',
      ...own,
    ]);
    expect(sent.filter((line) => /^keep-alive/i.test(line))).toEqual([]);
    await expect(toast(page, 'Request Sent')).toBeVisible();
    await expect(toast(page, 'Received 200 response from the server.')).toBeVisible();
  });

  await test.step('the signatures of captured webhooks are still valid at the destination', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    const fixtures = [githubPush, stripeInvoicePaid, shopifyOrdersCreate, slackEvent];
    for (const fixture of fixtures) {
      const answer = await exchange(place(endpoint.url), toRawHttp(fixture, endpoint.url));
      expect(answer.status).toBe(200);
    }
    for (const [index, { sender, body, verify }] of fixtures.entries()) {
      if (index === 0) await openReplay(page, endpoint, 0, goLive);
      else await replayRow(page, index);
      await sendTo(page, `${target.url}/hook`);
      const received = target.received[index];
      expect(received?.body.equals(body), sender).toBe(true);
      expect(verify(received?.body ?? Buffer.alloc(0), received?.headers ?? [], endpoint.url), sender).toBe(true);
    }
  });

  await test.step('an edited body and edited headers are what is sent; line ends stay, and the way back leads to the bytes', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    await send(endpoint.url, {
      body: 'one\r\ntwo\r\n',
      headers: { 'content-type': 'text/plain', 'x-hub-signature-256': 'sha256=0', 'x-old': 'old' },
    });
    await openReplay(page, endpoint, 0, goLive);
    await expect(page.getByText('As captured, 10 B, sent byte for byte')).toBeVisible();
    await bodyField(page).fill('one\ntwö\n');
    await expect(page.getByText('Edited', { exact: true })).toBeVisible();
    await expect(page.getByText('The signature was made for the captured body and will not match.')).toBeVisible();
    await page.getByRole('button', { name: /^Show all/ }).click();
    const headers = page.getByRole('table', { name: 'Headers to send' });
    const old = headers.getByRole('row').filter({ has: page.locator('[value="x-old"]') });
    await old.getByRole('textbox').last().fill('néw');
    await page.getByRole('button', { name: 'Add header' }).click();
    await expect(headers.getByLabel(/^Name of header/).last()).toBeFocused();
    await page.keyboard.type('X-Empty');
    await methodField(page).selectOption('PATCH');
    await sendTo(page, `${target.url}/hook`);

    const [edited] = target.received;
    expect(edited?.method).toBe('PATCH');
    expect(edited?.body.toString()).toBe('one\r\ntwö\r\n');
    const named = (name: string) => edited?.headers.filter(([given]) => given.toLowerCase() === name);
    expect(named('x-old')).toEqual([['x-old', Buffer.from('néw').toString('latin1')]]);
    expect(named('x-empty')).toEqual([]);

    await page.getByRole('button', { name: 'Back to the captured body' }).click();
    await expect(bodyField(page)).toHaveValue('one\ntwo\n');
    await sendButton(page).click();
    await expect.poll(() => target.received.length).toBe(2);
    expect(target.received[1]?.body.toString()).toBe('one\r\ntwo\r\n');
  });

  await test.step('a large body is sent exactly without being loaded, and can be loaded and edited', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    const text = `{"items":[${'1234567,'.repeat(40_000)}0]}`;
    await send(endpoint.url, { body: text, headers: { 'content-type': 'application/json' } });
    await openReplay(page, endpoint, 0, goLive);
    await expect(page.getByText(/^As captured, 312\.\d KB, sent byte for byte$/)).toBeVisible();
    await expect(bodyField(page)).toHaveCount(0);
    await sendTo(page, `${target.url}/hook`);
    expect(target.received[0]?.body.toString()).toBe(text);
    await page.getByRole('button', { name: 'Edit as text' }).click();
    await expect(bodyField(page)).toHaveValue(text);
  });

  await test.step('of thousands of headers, the page shows a part first and more on request', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    const many = Array.from({ length: 450 }, (__, nth): [string, string] => [`x-${nth}`, String(nth)]);
    target.answerWith((answer) => {
      for (const [name, value] of many) answer.setHeader(name, value);
      answer.end('ok');
    });
    await fetch(endpoint.url, { method: 'POST', body: 'x', headers: many });
    await openReplay(page, endpoint, 0, goLive);
    await sendTo(page, `${target.url}/hook`);
    await response(page).getByRole('tab', { name: 'Headers' }).click();
    await expect(response(page).getByRole('row')).toHaveCount(201);
    await response(page).getByRole('button', { name: 'Show 200 more' }).click();
    await expect(response(page).getByText('x-399', { exact: true })).toBeAttached();
    const sent = page.getByRole('region', { name: 'Headers of the replay' });
    await sent.getByRole('button', { name: /^Show all \(/ }).click();
    await expect(sent.getByRole('row')).toHaveCount(201);
    await sent.getByRole('button', { name: /^Show \d+ more headers$/ }).click();
    await expect(sent.getByRole('row')).toHaveCount(401);
  });
});

test('a response is shown as it came, and so is its absence', async ({ page, person: _ }) => {
  await test.step('responses are shown as they came, and nothing in them runs', async () => {
    const endpoint = await createEndpoint(page);
    const target = await startTarget();
    await sendJson(endpoint.url, { a: 1 });
    await openReplay(page, endpoint);

    await test.step('a redirect is shown with where it leads, and not followed', async () => {
      target.answerWith((answer) => answer.writeHead(302, { location: '/elsewhere?a=1' }).end());
      await sendTo(page, `${target.url}/hook`);
      await expect(response(page).locator('.text-warn').first()).toContainText('302 Found');
      await expect(response(page).getByText('/elsewhere?a=1')).toBeVisible();
      await expect(response(page).getByText('Redirects are not followed.')).toBeVisible();
      await expect(response(page).getByText('No content')).toBeVisible();
      expect(target.received.map(({ url }) => url)).toEqual(['/hook']);
      await page.getByRole('button', { name: 'Use as destination' }).click();
      await expect(urlField(page)).toHaveValue(`${target.url}/elsewhere?a=1`);
      expect(target.received).toHaveLength(1);
    });

    await test.step('a 204 says only once that there is no content', async () => {
      target.answerWith((answer) => answer.writeHead(204).end());
      await sendTo(page, `${target.url}/hook`);
      await expect(response(page).getByText('204', { exact: true })).toBeVisible();
      await expect(response(page).getByText('No content')).toHaveCount(1);
    });

    await test.step('a compressed response is decoded and marked, and bytes are shown in hex', async () => {
      const packed = gzipSync('{"packed":true}');
      target.answerWith((answer) =>
        answer.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed),
      );
      await sendTo(page, `${target.url}/hook`);
      await expect(
        response(page).getByText(`Decoded from gzip: ${packed.length} B as sent, 15 B decoded.`),
      ).toBeVisible();
      await expect(response(page).getByRole('tree').getByText('"packed"')).toBeVisible();
      target.answerWith((answer) => answer.end(EVERY_BYTE));
      await sendButton(page).click();
      await expect(response(page).getByRole('region', { name: 'Response in hex' })).toContainText('00 01 02 03');
    });

    await test.step('a cut response and an interrupted one are marked', async () => {
      target.answerWith((answer) => answer.end('é'.repeat(600 * 1024)));
      await sendTo(page, `${target.url}/hook`);
      await expect(response(page).getByText('Cut at 1 MiB: the destination sent more.')).toBeVisible();
      target.answerWith((answer) => {
        answer.writeHead(200, { 'content-length': '100' });
        answer.write('half of it', () => answer.destroy());
      });
      await sendButton(page).click();
      await expect(response(page).getByText(/^The destination stopped sending/)).toBeVisible();
      await expect(response(page).getByRole('region', { name: 'Response as text' })).toHaveText('half of it');
    });

    await test.step('nothing in a response runs, loads or is a link', async () => {
      const html =
        '<!doctype html><script>alert(1)</script><img src=/x onerror=alert(1)><a href="https://a.test">a</a>';
      target.answerWith((answer) =>
        answer.writeHead(200, { 'content-type': 'text/html', link: '<http://a.test>' }).end(html),
      );
      const asked: string[] = [];
      page.on('dialog', (dialog) => {
        asked.push(dialog.message());
        void dialog.dismiss();
      });
      await sendTo(page, `${target.url}/hook`);
      await expect(response(page).getByRole('region', { name: 'Response as text' })).toHaveText(html);
      await response(page).getByRole('tab', { name: 'Headers' }).click();
      await expect(response(page).getByText('<http://a.test>')).toBeVisible();
      await expect(response(page).locator('a, img, script, iframe, object, embed')).toHaveCount(0);
      expect(asked).toEqual([]);
    });

    await test.step('a 500 with JSON is laid out, with its headers as they came', async () => {
      target.answerWith((answer) => {
        answer.writeHead(500, ['Content-Type', 'application/json', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2']);
        answer.end('{"error":12345678901234567890.10,"again":true}');
      });
      await sendTo(page, `${target.url}/hook`);
      await expect(response(page).locator('.text-bad').first()).toContainText('500 Internal Server Error');
      const tree = response(page).getByRole('tree', { name: 'Response as JSON' });
      await expect(tree.getByText('12345678901234567890.10')).toBeVisible();
      await response(page).getByRole('tab', { name: 'Raw' }).click();
      await expect(response(page).getByText('{"error":12345678901234567890.10,"again":true}')).toBeVisible();
      await response(page).getByRole('tab', { name: 'Headers' }).click();
      const rows = response(page).getByRole('table', { name: 'Response headers' }).getByRole('row');
      await expect(rows.filter({ hasText: 'a=1' })).toContainText('Set-Cookie');
      await expect(rows.filter({ hasText: 'b=2' })).toContainText('set-cookie');

      // The toast of this response must not stay beside the failure of the next replay.
      await target.close();
      await sendButton(page).click();
      await expect(toast(page, 'Error')).toBeVisible();
      // Without waiting: any toast disappears.
      expect(await toast(page, 'Request Sent').count()).toBe(0);
      await expect(response(page).getByRole('alert')).toBeVisible();
    });
  });

  await test.step('a replay without a response says why', async () => {
    const endpoint = await createEndpoint(page);
    const target = await startTarget();
    await sendJson(endpoint.url, { a: 1 });
    await openReplay(page, endpoint, 0, goLive);

    await test.step('an action in progress is shown, ignores a second press, and can be canceled', async () => {
      const { promise: left, resolve: leave } = Promise.withResolvers<void>();
      target.answerWith((answer) => void answer.once('close', leave));
      await urlField(page).fill(`${target.url}/hook`);
      await page.keyboard.press('ControlOrMeta+Enter');
      const sending = page.getByRole('button', { name: 'Sending...' });
      await expect(sending).toBeDisabled();
      await expect.poll(() => target.received.length).toBe(1);
      await page.keyboard.press('ControlOrMeta+Enter');
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await expect(response(page).getByText('Canceled. The destination may have received the request.')).toBeVisible();
      await expect(sendButton(page)).toBeFocused();
      expect(target.received).toHaveLength(1);
      // Canceling in the page also cancels the request of the server.
      await left;
    });

    await test.step('a target that refuses the connection is reported with the reason, in the place of the response', async () => {
      await target.close();
      await urlField(page).fill(`${target.url}/hook`);
      await sendButton(page).click();
      await expect(response(page).getByRole('alert')).toContainText('refused the connection');
      await expect(toast(page, 'Error')).toBeVisible();
      await expect(toast(page, 'Failed to send request. Please check the URL and try again.')).toBeVisible();
      await expect(sendButton(page)).toBeEnabled();
    });
  });
});

test('a request that was saved meanwhile can still be sent, even before the page knows', async ({
  page,
  endpoint,
  target,
}) => {
  for (let at = 0; at < 2; at++) await sendJson(endpoint.url, { at });
  await openReplay(page, endpoint, 1);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(row(page, 1)).not.toContainText('Unsaved');
  await sendTo(page, `${target.url}/hook`);
  expect(target.received[0]?.body.toString()).toBe('{"at":1}');

  await page.routeWebSocket(/\/ws\?/, (socket) => void socket.close({ code: 1001 }));
  await page.goto(`/endpoints/${endpoint.uid}?request=0`);
  await expect(row(page, 0)).toContainText('Unsaved');
  await page.request.post(`/api/endpoints/${endpoint.uid}/save-request`, { data: { index: 0 } });
  await page.getByRole('button', { name: 'Replay Request' }).click();
  await sendTo(page, `${target.url}/hook`);
  expect(target.received[1]?.body.toString()).toBe('{"at":0}');
});
