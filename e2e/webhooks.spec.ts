// Real webhooks: each appears live, opens in the right tab, and its signature is valid for the downloaded bytes.
import { expect, test } from './app.ts';
import { webhookFixtures } from '../fixtures/webhooks/all.ts';
import { toRawHttp } from '../fixtures/webhooks/webhook-fixture.ts';
import { exchange } from '../fixtures/raw-http.ts';
import { createEndpoint, detailsOf, openLive, row, unsaved } from './endpoints.ts';

/** The tab in which each webhook opens, a text in it, and the extension of the downloaded body. */
const SHOWN: Record<string, { tab: string; text: string; file: string }> = {
  'github-push': { tab: 'JSON', text: '"refs/heads/main"', file: 'json' },
  'stripe-invoice-paid': { tab: 'JSON', text: '"invoice.paid"', file: 'json' },
  'shopify-orders-create': { tab: 'JSON', text: '"admin_graphql_api_id"', file: 'json' },
  'slack-event': { tab: 'JSON', text: '"event_callback"', file: 'json' },
  'twilio-sms': { tab: 'Raw', text: 'SmsMessageSid', file: 'txt' },
  'sns-notification': { tab: 'Raw', text: '"Notification"', file: 'json' },
  'multipart-upload': { tab: 'Raw', text: 'Download', file: 'bin' },
  'gzip-json': { tab: 'JSON', text: 'Decoded from gzip', file: 'gz' },
  xml: { tab: 'Raw', text: 'soapenv:Envelope', file: 'txt' },
  'big-json': { tab: 'JSON', text: '"catalogue.exported"', file: 'json' },
};

test('every webhook appears live and opens, and its signature is valid for the downloaded bytes', async ({
  page,
  person,
}) => {
  expect(person.username).toBeTruthy();
  const endpoint = await createEndpoint(page, 'Webhooks');
  await openLive(page, endpoint);
  const { hostname, port } = new URL(endpoint.url);
  for (const [index, fixture] of webhookFixtures.entries()) {
    const answer = await exchange({ host: hostname, port: Number(port) }, toRawHttp(fixture, endpoint.url));
    expect(answer.status, fixture.name).toBe(200);
    await expect(row(page, index), fixture.name).toBeVisible();
  }
  const captured = await unsaved(page, endpoint.uid);
  for (const [index, fixture] of webhookFixtures.entries()) {
    const shown = SHOWN[fixture.name];
    expect(shown, `${fixture.name} has no line in SHOWN`).toBeDefined();
    await row(page, index).click();
    const details = detailsOf(page, index);
    await expect(details.getByRole('tab', { name: shown?.tab ?? '' }), fixture.name).toHaveAttribute(
      'data-state',
      'active',
    );
    await expect(details.getByText(shown?.text ?? '').first(), fixture.name).toBeVisible();

    await details.getByRole('button', { name: 'More actions' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download body' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`request-${index}.${shown?.file}`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    const request = captured.find((one) => one.index === index);
    expect(bytes.equals(fixture.body), `${fixture.name}: bytes`).toBe(true);
    expect(fixture.verify(bytes, request?.rawHeaders ?? [], endpoint.url), `${fixture.name}: signature`).toBe(true);
  }
});
