// Forwarding by the server: destinations, the status in the list, and the history of a request.
import type { Locator, Page } from '@playwright/test';
import { exchange } from '../fixtures/raw-http.ts';
import { startTarget } from '../fixtures/target-server.ts';
import { expect, pressEscape } from './app.ts';
import { expectNoFindings } from './axe.ts';
import {
  createDestination,
  createEndpoint,
  filterField,
  goLive,
  goTo,
  openLive,
  reportAttempt,
  row,
  send,
  sendJson,
} from './endpoints.ts';
import { urlField } from './replay.ts';
import { test } from './target.ts';
import { DESKTOP, PHONE, answerWith, problem } from './pages.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

const dialog = (page: Page, name = 'Forward') => page.getByRole('dialog', { name, exact: true });
const destination = (page: Page, url: string) =>
  page.getByRole('list', { name: 'Destinations' }).getByRole('listitem', { name: url });
const attempts = (page: Page) => page.getByRole('list', { name: 'Deliveries, newest first' }).getByRole('listitem');

async function addDestination(page: Page, url: string, condition = ''): Promise<void> {
  await page.getByRole('button', { name: 'Forward', exact: true }).click();
  await page.getByRole('button', { name: 'Add destination' }).click();
  await page.getByLabel('URL', { exact: true }).fill(url);
  await page.getByRole('combobox', { name: 'Condition' }).fill(condition);
  await page.getByRole('button', { name: 'Add destination' }).click();
  await expect(destination(page, url)).toContainText('Active');
}

async function forwardTo(page: Page, url: string): Promise<void> {
  await addDestination(page, url);
  await pressEscape(page);
}

test('captures are forwarded, and destinations are edited', async ({ page, person: _ }) => {
  await test.step('a capture is forwarded, its badge changes live, and its history has the response', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    target.answerWith((response) => response.setHeader('content-type', 'application/json').end('{"stored":true}'));
    await openLive(page, endpoint);
    await addDestination(page, `${target.url}/hook`, 'method:POST');
    await expect(destination(page, `${target.url}/hook`)).toContainText('method:POST');
    await pressEscape(page);

    await sendJson(endpoint.url, { n: 1 }, '/orders');
    await send(endpoint.url, { method: 'PUT', path: '/not-forwarded' });
    await expect(row(page, 0)).toContainText('200');
    await expect(row(page, 1)).not.toContainText('200');
    await row(page, 0).click();
    await page.getByRole('tab', { name: /^Deliveries/ }).click();
    await expect(attempts(page)).toHaveCount(1);
    await expect(attempts(page)).toContainText('200 OK');
    await expect(attempts(page)).toContainText('"stored"');
    await attempts(page).getByRole('tab', { name: 'Headers' }).click();
    await expect(page.getByRole('table', { name: 'Response headers' })).toContainText('application/json');
    await expectNoFindings(page, 'deliveries', '[aria-label="Request 0"]');

    await page.getByRole('button', { name: 'Open in replay' }).click();
    await expect(urlField(page)).toHaveValue(`${target.url}/hook`);
    await page.getByRole('button', { name: 'Send Request' }).click();
    await expect(attempts(page)).toHaveCount(2);
    await expect(attempts(page).first()).toContainText('Replay');
    // Both can be open, to compare them.
    await attempts(page).nth(1).getByRole('button', { expanded: false }).click();
    for (const nth of [0, 1]) await expect(attempts(page).nth(nth)).toContainText('"stored"');
    expect(target.received.map(({ url }) => url)).toEqual(['/hook', '/hook']);

    await Promise.all(Array.from({ length: 49 }, () => reportAttempt(page, endpoint, 0)));
    await expect(attempts(page)).toHaveCount(50);
    await expect(page.getByText('Only the newest 50 attempts are kept.')).toBeVisible();
  });

  await test.step('a request shows that it waits for its first attempt, live, and then its result', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    let answerAll = (): void => undefined;
    target.answerWith((response) => {
      answerAll = () => void response.end('ok');
    });
    await goLive(page, endpoint);
    await forwardTo(page, target.url);
    await sendJson(endpoint.url, { n: 1 });
    await expect(row(page, 0)).toContainText('Waiting');
    await row(page, 0).click();
    await page.getByRole('tab', { name: /^Deliveries/ }).click();
    await expect(page.getByText('Waiting for the first attempt')).toBeVisible();
    answerAll();
    await expect(row(page, 0)).toContainText('200');
    await expect(attempts(page)).toHaveCount(1);
    // At the end, because the check may take longer than the 30 s after which the server ends an attempt.
    await sendJson(endpoint.url, { n: 2 });
    await row(page, 1).click();
    await expect(page.getByText('Waiting for the first attempt')).toBeVisible();
    await expectNoFindings(page, 'a request that waits');
  });

  await test.step('a test does not leave the path of its destination', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    const { port, pathname } = new URL(endpoint.url);
    await exchange(
      { port: Number(port) },
      `POST ${pathname}/../admin HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx`,
    );
    const url = `${target.url}/hooks`;
    await createDestination(page, endpoint, { url, appendPath: true });
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    await destination(page, url).getByRole('button', { name: 'Test with the newest request' }).click();
    await expect(destination(page, url)).toContainText('The captured path has “..”');
    expect(target.received).toEqual([]);
    await pressEscape(page);
  });

  await test.step('destinations are edited, tested, switched off and deleted, by keyboard too', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    await sendJson(endpoint.url, { n: 1 }, '/orders?a=1');
    await goLive(page, endpoint);
    await addDestination(page, target.url);
    const card = destination(page, target.url);
    await card.getByRole('button', { name: 'Edit destination' }).click();
    await page.getByLabel('Append the captured path and query').click();
    await page.setViewportSize(PHONE);
    await page.getByRole('combobox', { name: 'Condition' }).fill('size:many');
    await page.getByLabel('URL', { exact: true }).focus();
    const mistake = page.getByText('Expected a size such as 500, 10kb or 2mb');
    await expect(mistake).toBeVisible();
    expect(await mistake.evaluate((line) => line.scrollWidth - line.clientWidth), 'cut pixels').toBe(0);
    await page.getByRole('button', { name: 'Save' }).click();
    const place = await page.locator('[data-mistake]').boundingBox();
    const next = await page.getByText('Append the captured path and query').boundingBox();
    expect(next?.y).toBeGreaterThanOrEqual((place?.y ?? 0) + (place?.height ?? 0));
    await page.setViewportSize(DESKTOP);
    await page.getByRole('combobox', { name: 'Condition' }).fill('is:saved');
    await page.getByRole('combobox', { name: 'Condition' }).press('Tab');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Expected a condition that is known at the capture.')).toBeVisible();
    await expectNoFindings(page, 'a rejected condition', '[role="dialog"]');
    await page.getByRole('combobox', { name: 'Condition' }).fill('');
    await page.getByLabel('URL', { exact: true }).fill('http://169.254.169.254/');
    await page.getByLabel('URL', { exact: true }).press('Enter');
    await expect(page.getByLabel('URL', { exact: true })).toBeFocused();
    await expect(page.getByLabel('URL', { exact: true })).toHaveAttribute('aria-invalid', 'true');
    await page.getByLabel('URL', { exact: true }).fill(target.url);
    await page.getByLabel('URL', { exact: true }).press('Enter');
    await expect(card).toContainText('path appended');

    await card.getByRole('button', { name: 'Test with the newest request' }).click();
    await expect(card).toContainText('The destination answered 200 OK');
    expect(target.received.map(({ url }) => url)).toEqual(['/orders?a=1']);
    await card.getByRole('switch').press('Space');
    await expect(card).toContainText('Off');
    await sendJson(endpoint.url, { n: 2 });

    const remove = async (): Promise<void> => {
      await card.getByRole('button', { name: 'Delete destination' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    };
    await page.route('**/destinations/*', (route) => route.fulfill({ status: 500, body: '' }), { times: 1 });
    await remove();
    await expect(card.getByRole('alert')).toHaveText('The destination could not be deleted. Please try again.');
    await answerWith(page, '**/destinations/*', 503, problem('The server is busy.', 'UNAVAILABLE'), 'PATCH');
    await card.getByRole('switch').press('Space');
    await expect(card.getByRole('alert')).toHaveText([
      'The destination could not be changed. The server is busy.',
      'The destination could not be deleted. Please try again.',
    ]);
    await page.unroute('**/destinations/*');
    await remove();
    await expect(page.getByText('No destinations yet')).toBeVisible();
    expect(target.received).toHaveLength(1);
    await pressEscape(page);
  });

  await test.step('a sixth destination is not offered, and localhost has a line to paste', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    for (let at = 0; at < 5; at++) {
      await createDestination(page, endpoint, { url: `${target.url}/${at}` });
    }
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    await expect(dialog(page)).toContainText('An endpoint can have at most 5 destinations.');
    await expect(page.getByRole('button', { name: 'Add destination' })).toBeDisabled();
    await page.getByRole('tab', { name: 'To localhost' }).click();
    await page.getByLabel('Port of your program').fill('4000');
    await expect(dialog(page)).toContainText(`${endpoint.url} http://localhost:4000`);
  });
});

test('a destination that is down and up again: the failure, the retry, and the filter', async ({
  page,
  endpoint,
  target,
}) => {
  const port = Number(new URL(target.url).port);
  await openLive(page, endpoint);
  await forwardTo(page, target.url);
  await target.close();
  await sendJson(endpoint.url, { n: 1 });
  await expect(row(page, 0)).toContainText('Failed');
  await expect(row(page, 0)).toContainText('Delivery is retried');

  await filterField(page).fill('is:pending');
  await expect(row(page, 0)).toBeVisible();
  await filterField(page).fill('is:delivered');
  await expect(row(page, 0)).toHaveCount(0);
  await goTo(page, `/endpoints/${endpoint.uid}?request=0&tab=deliveries&find=is%3Adelivered`);
  await expect(attempts(page).first()).toContainText('The next attempt is planned for');
  await expect(row(page, 0)).toHaveCount(0);

  // The server tries again after 5 seconds, and then only after 30, so that the user is first.
  await expect(attempts(page)).toHaveCount(2);
  await using back = await startTarget(port);
  await attempts(page).first().getByRole('button', { name: 'Send again' }).click();
  await expect(attempts(page).first()).toContainText('200');
  // The list of the filter gets the request when it is delivered.
  await expect(row(page, 0)).toContainText('200');
  expect(back.received.length).toBeGreaterThan(0);
});

test('with several destinations a row shows the failure, live, until the destination works again', async ({
  page,
  endpoint,
  target,
}) => {
  await using broken = await startTarget();
  // The server waits so long that it does not send again before the user.
  broken.answerWith((response) => response.writeHead(503, { 'retry-after': '3600' }).end());
  await openLive(page, endpoint);
  // The one that works waits, so that its success arrives after the failure.
  let succeed = (): void => undefined;
  target.answerWith((response) => {
    succeed = () => void response.end('ok');
  });
  await forwardTo(page, target.url);
  await forwardTo(page, broken.url);
  await sendJson(endpoint.url, { n: 1 });
  await expect(row(page, 0)).toContainText('503');
  await expect.poll(() => target.received.length).toBe(1);
  succeed();
  await row(page, 0).click();
  await page.getByRole('tab', { name: /^Deliveries/ }).click();
  await expect(attempts(page)).toHaveCount(2);
  await expect(attempts(page).first()).toContainText('200');
  await expect(row(page, 0)).toContainText('503');
  await expect(row(page, 0)).toContainText('Delivery is retried');
  await page.reload();
  await expect(row(page, 0)).toContainText('503');

  broken.answerWith((response) => response.end('ok'));
  const failed = attempts(page).filter({ hasText: '503' });
  await failed.getByRole('button', { expanded: false }).click();
  await failed.getByRole('button', { name: 'Send again' }).click();
  await expect(attempts(page)).toHaveCount(3);
  await expect(row(page, 0)).toContainText('200');
  await expect(row(page, 0)).not.toContainText('Delivery is retried');
});

test('one of two destinations has no attempt yet: it is listed as waiting, until it is deleted in another tab', async ({
  page,
  context,
  endpoint,
  target,
}) => {
  await using hangs = await startTarget();
  hangs.answerWith(() => undefined);
  await openLive(page, endpoint);
  await forwardTo(page, target.url);
  await forwardTo(page, `${hangs.url}/hangs`);
  // Before the request arrives, because the server ends its attempt after 30 s.
  const other = await context.newPage();
  await openLive(other, endpoint);
  await other.getByRole('button', { name: 'Forward', exact: true }).click();
  const card = destination(other, `${hangs.url}/hangs`);
  await expect(card).toContainText('Active');
  await sendJson(endpoint.url, { n: 1 });
  await row(page, 0).click();
  await page.getByRole('tab', { name: /^Deliveries/ }).click();
  await expect(attempts(page)).toHaveCount(2);
  const waiting = attempts(page).filter({ hasText: `${hangs.url}/hangs` });
  await expect(waiting).toContainText('Waiting');
  await waiting.getByRole('button', { expanded: false }).click();
  await expect(waiting).toContainText('The destination may be slow');
  await expect(row(page, 0)).toContainText('Delivery is retried');

  await card.getByRole('switch').press('Space');
  await expect(waiting).toContainText('the destination is off. Turn it on');
  await card.getByRole('button', { name: 'Delete destination' }).click();
  await other.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(attempts(page)).toHaveCount(1);
  await expect(row(page, 0)).toContainText('200');
  await expect(row(page, 0)).not.toContainText('Delivery is retried');

  // At the end, because the check may take longer than the 30 s after which the server ends an attempt.
  await createDestination(page, endpoint, { url: `${hangs.url}/hangs` });
  await sendJson(endpoint.url, { n: 2 });
  await row(page, 1).click();
  await expect(attempts(page)).toHaveCount(2);
  await waiting.getByRole('button', { expanded: false }).click();
  await expect(waiting).toContainText('The destination may be slow');
  await expectNoFindings(page, 'a destination without an attempt', '[aria-label="Request 1"]');
});

test('a destination is paused after 50 failures, says why, and is resumed', async ({ page, endpoint, target }) => {
  // A failing destination gets five attempts per second, so 50 take 9 s on a quiet machine.
  target.answerWith((response) => response.writeHead(500, 'Out Of Order').end());
  await openLive(page, endpoint);
  await addDestination(page, target.url);
  await Promise.all(Array.from({ length: 52 }, () => send(endpoint.url)));
  const card = destination(page, target.url);
  await expect(card).toContainText('Paused', { timeout: 60_000 });
  await expect(card).toContainText('500 Out Of Order');
  await expect(card).toContainText('0% of the last 20 attempts delivered, latest 500');
  await expect(card).toContainText('52 waiting');
  await expectNoFindings(page, 'a paused destination', '[role="dialog"]');

  await pressEscape(page);
  const paused = page.getByRole('button', { name: 'Forward (a destination is paused)' });
  await expect(paused).toContainText('Paused');
  await page.goto(`/endpoints/${endpoint.uid}?request=0`);
  await expect(paused).toBeVisible();
  await page.getByRole('tab', { name: /^Deliveries/ }).click();
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect(attempts(page).first()).toContainText('Its destination is paused. Resume it, then send again.');
  target.answerWith((response) => response.end('ok'));
  await page.getByRole('button', { name: 'Activate and send again' }).click();
  await expect(attempts(page).first()).toContainText('200');
  await expect(paused).toHaveCount(0);
  await page.getByRole('button', { name: 'Forward', exact: true }).click();
  await expect(card).toContainText('100% of the last 20 attempts delivered', { timeout: 60_000 });
  await expect(card).not.toContainText('waiting');
  await expect(card).toContainText('Active');
});

test.describe('on a touch screen', () => {
  test.use({ viewport: PHONE, hasTouch: true, isMobile: true });

  test('the tabs and the button above a response are not cut', async ({ page, endpoint }) => {
    await using target = await startTarget();
    await createDestination(page, endpoint, { url: target.url });
    await sendJson(endpoint.url, { n: 1 });
    await openLive(page, endpoint);
    await expect(row(page, 0)).toContainText('200');
    await row(page, 0).click();
    await page.getByRole('tab', { name: /^Deliveries/ }).click();
    const tabs = page.getByRole('tablist', { name: 'Response of the destination' });
    const bottomOf = (part: Locator): Promise<number> => part.evaluate((drawn) => drawn.getBoundingClientRect().bottom);
    const bottom = await bottomOf(tabs);
    expect(await bottomOf(tabs.getByRole('tab').first())).toBeLessThanOrEqual(bottom);
    expect(await bottomOf(page.getByRole('button', { name: 'Copy the response' }))).toBeLessThanOrEqual(bottom);
  });
});
