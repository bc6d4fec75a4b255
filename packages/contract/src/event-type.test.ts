import { expect, test } from 'vitest';
import type { RawHeaders } from './raw-headers.ts';
import { eventType } from './event-type.ts';

const cases: [string, RawHeaders, string, string | null][] = [
  [
    'GitHub with an action',
    [['X-GitHub-Event', 'pull_request']],
    '{"action":"opened","number":1}',
    'pull_request.opened',
  ],
  ['GitHub with a ref', [['X-GitHub-Event', 'push']], '{"ref":"refs/heads/main"}', 'push'],
  ['GitHub alone', [['x-github-event', 'ping']], '', 'ping'],
  ['Stripe', [], '{"id":"evt_1","data":{"type":"inner"},"type":"invoice.paid"}', 'invoice.paid'],
  ['Shopify', [['X-Shopify-Topic', 'orders/create']], '{"id":1}', 'orders/create'],
  ['SNS in its body', [], '{"Type":"Notification"}', 'Notification'],
  ['CloudEvents', [['ce-type', 'com.example.created']], '', 'com.example.created'],
  ['SNS', [['x-amz-sns-message-type', 'Notification']], '{}', 'Notification'],
  ['Slack', [], '{"type":"event_callback","event":{"type":"app_mention"}}', 'app_mention'],
  ['GitHub as a form', [['x-github-event', 'issues']], 'payload=%7B%22action%22%3A%22opened%22%7D', 'issues.opened'],
  ["Slack's interaction", [], 'payload=%7B%22type%22%3A%22block_actions%22%2C%22user%22%3A%7B%22id', 'block_actions'],
  ['a form that ends in an escape', [], 'payload=%7B%22type%22%3A%22a%22%2C%22text%22%3A%22%E6%BC%A', 'a'],
  ['another form', [], 'type=%7B%22type%22%3A%22a%22%7D', null],
  ['Jira', [], '{"timestamp":1,"webhookEvent":"jira:issue_updated"}', 'jira:issue_updated'],
  ['type before event', [], '{"event":"b","type":"a"}', 'a'],
  ['only the beginning of a body', [], '{"type":"order.paid","data":{"text":"cut he', 'order.paid'],
  ['a sentence is no event', [], '{"type":"this is a sentence"}', null],
  ['an inner type is none', [], '{"data":{"type":"x"}}', null],
  ['a list', [], '[{"type":"x"}]', null],
  ['no JSON', [], '<type>x</type>', null],
  ['an escaped name', [], String.raw`{"type":"a\u002eb"}`, 'a.b'],
  ['too long', [['x-event-type', 'e'.repeat(300)]], '', 'e'.repeat(100) + '…'],
];

test.each(cases)('%s', (_, headers, body, expected) => expect(eventType(headers, body)).toBe(expected));
