// The signing secret of an endpoint: checking what arrived, and signing a replay again.
import { createHmac } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, pressEscape, test } from './app.ts';
import { expectNoFindings } from './axe.ts';
import { startTarget } from '../fixtures/target-server.ts';
import { createDestination, createEndpoint, detailsOf, goLive, openLive, row, send } from './endpoints.ts';
import { returnToTab } from './pages.ts';
import { bodyField, openReplay, sendTo } from './replay.ts';

// An endpoint for each step.
test.use({ tier: 'PREMIUM' });

const SECRET = 'It is a secret to everybody';
const BODY = '{"action":"opened","number":7}';
const signed = (body: string, secret = SECRET): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const signedRequest = (body = BODY, signature = signed(BODY)): RequestInit => ({
  body,
  headers: { 'content-type': 'application/json', 'X-GitHub-Event': 'issues', 'X-Hub-Signature-256': signature },
});

async function setSecret(page: Page, secret: string): Promise<void> {
  await page.getByRole('button', { name: 'Signing secret' }).click();
  await page.getByLabel('Secret', { exact: true }).fill(secret);
  await page
    .getByRole('dialog', { name: 'Signing secret' })
    .getByRole('button', { name: /^(Save|Replace)$/ })
    .click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
}

test('a secret checks what arrived, and signs what is sent', async ({ page, person: _ }) => {
  await test.step('the scheme is suggested, and details say whether a signature is valid', async () => {
    const endpoint = await createEndpoint(page);
    await send(endpoint.url, { body: 'unsigned' });
    await send(endpoint.url, signedRequest(BODY.replace('7', '8')));
    await send(endpoint.url, signedRequest());
    await send(endpoint.url, { body: 'from another sender', headers: { 'X-Slack-Signature': 'v0=00' } });
    await openLive(page, endpoint, '?request=2');
    await page.getByRole('button', { name: 'Check the signature…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Signing secret' });
    await expect(dialog.getByLabel('Scheme')).toHaveValue('github');
    await expect(dialog).toContainText('Suggested');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toContainText('Please enter the secret');
    await expectNoFindings(page, 'signing secret', '[role="dialog"]');
    await dialog.getByLabel('Secret', { exact: true }).fill(`${SECRET} `);
    await dialog.getByLabel('Secret', { exact: true }).press('Enter');
    await expect(dialog).toHaveCount(0);
    const details = detailsOf(page, 2);
    await expect(details).toContainText(/Signature invalid: .*space/);
    await expect(details.getByRole('status').filter({ hasText: 'Signature invalid' }), 'announced').toHaveCount(1);

    await details.getByRole('button', { name: 'Change the secret…' }).click();
    await expect(dialog.getByRole('button', { name: 'Replace' })).toBeVisible();
    await pressEscape(page);
    await expect(dialog).toHaveCount(0);
    await setSecret(page, SECRET);
    await expect(details).toContainText('Signature valid');
    await expectNoFindings(page, 'a valid signature', '[aria-label="Request 2"]');
    for (const [secret, verdict] of [
      ['replaced in another tab', 'Signature invalid:'],
      [SECRET, 'Signature valid'],
    ] as const) {
      const path = `/api/endpoints/${endpoint.uid}/signing-secret`;
      expect((await page.request.put(path, { data: { scheme: 'github', secret } })).ok()).toBe(true);
      await returnToTab(page);
      await expect(details).toContainText(verdict);
    }
    await row(page, 1).click();
    await expect(detailsOf(page, 1)).toContainText('Signature invalid:');
    await expectNoFindings(page, 'an invalid signature', '[aria-label="Request 1"]');
    await row(page, 0).click();
    await expect(detailsOf(page, 0)).toContainText('No signature:');
    const change = detailsOf(page, 0).getByRole('button', { name: 'Change the secret…' });
    await expect(change, 'an unsigned request has no wrong secret').toHaveCount(0);

    await page.getByRole('button', { name: 'Signing secret' }).click();
    await expect(dialog).toContainText('A secret is set (GitHub).');
    await expect(dialog.getByLabel('Secret', { exact: true })).toHaveValue('');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    const question = page.getByRole('alertdialog', { name: 'Remove signing secret' });
    await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await question.getByRole('button', { name: 'Remove' }).click();
    await expect(question).toHaveCount(0);
    await expect(dialog).toHaveCount(0);
    await expect(page.getByText('No signature:')).toHaveCount(0);
  });

  await test.step('an edited replay is signed again, so that the receiver accepts it', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    await send(endpoint.url, signedRequest());
    await page.request.put(`/api/endpoints/${endpoint.uid}/signing-secret`, {
      data: { scheme: 'github', secret: SECRET },
    });
    await openReplay(page, endpoint, 0, goLive);
    await bodyField(page).fill('{"edited":true}');
    await expect(page.getByText('will not match. Switch on “Sign again”.')).toBeVisible();
    await sendTo(page, target.url);
    await page.getByLabel('Sign again').click();
    await expect(page.getByText('will not match')).toHaveCount(0);
    await page.getByRole('button', { name: 'Send Request' }).click();
    await expect.poll(() => target.received.length).toBe(2);
    const signatures = target.received.map(({ headers }) => headers.find(([name]) => /signature/i.test(name))?.[1]);
    expect(signatures).toEqual([signed(BODY), signed('{"edited":true}')]);
    await expectNoFindings(page, 'sign again', '[aria-label="Replay Request"]');
  });

  await test.step('without the secret a destination that signs again says that it sends nothing', async () => {
    const endpoint = await createEndpoint(page);
    await using target = await startTarget();
    const path = `/api/endpoints/${endpoint.uid}`;
    await page.request.put(`${path}/signing-secret`, { data: { scheme: 'github', secret: SECRET } });
    await createDestination(page, endpoint, { url: target.url, sign: true });
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Forward', exact: true }).click();
    const card = page.getByRole('listitem', { name: target.url });
    await expect(card).toContainText('signed again');
    await expect(card).not.toContainText('no signing secret');
    await page.request.delete(`${path}/signing-secret`);
    await expect(card).toContainText('This endpoint has no signing secret, so nothing is sent.');
    await expectNoFindings(page, 'a destination without a secret', '[role="dialog"]');
    await send(endpoint.url, signedRequest());
    await expect(card).toContainText('latest without a response');
    await card.getByRole('button', { name: 'Set signing secret' }).click();
    await expect(page.getByRole('dialog', { name: 'Signing secret' })).toBeVisible();
    expect(target.received).toEqual([]);
  });
});
