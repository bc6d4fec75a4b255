import { firstHeader } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { topLevelStrings } from './top-level-strings.ts';

/** Headers in which senders name the event by itself. */
const EVENT_HEADERS = [
  'x-shopify-topic',
  'x-gitlab-event',
  'x-event-key',
  'x-event-type',
  'x-wc-webhook-topic',
  'x-amz-sns-message-type',
  'x-zm-event',
  'ce-type',
  'webhook-event',
] as const;

/** Names under which bodies carry their event, the most telling first. */
const EVENT_KEYS = ['type', 'event', 'event_type', 'eventType', 'event_name', 'topic', 'action', 'Type'] as const;

/** Longer than this it is not an event's name. */
const MAX_EVENT_LENGTH = 100;

/**
 * The event that a webhook is about, for the dim second text of its row (design 7): GitHub's header with its action or ref, Shopify's
 * topic and its like, else Stripe's `type` and its like. Empty where none can be told. `body` may be only the beginning.
 */
export function eventType(rawHeaders: RawHeaders, body: string): string {
  const github = firstHeader(rawHeaders, 'x-github-event');
  if (github !== undefined) return short(githubEvent(github, body));
  for (const name of EVENT_HEADERS) {
    const value = firstHeader(rawHeaders, name);
    if (value !== undefined && value !== '') return short(value);
  }
  return short(bodyEvent(body));
}

/** `pull_request.opened`, `push · refs/heads/main`. */
function githubEvent(event: string, body: string): string {
  const fields = topLevelStrings(body, ['action', 'ref']);
  const action = fields.get('action');
  if (action !== undefined) return `${event}.${action}`;
  const ref = fields.get('ref');
  return ref === undefined ? event : `${event} · ${ref}`;
}

function bodyEvent(body: string): string {
  const fields = topLevelStrings(body, EVENT_KEYS);
  for (const key of EVENT_KEYS) {
    const value = fields.get(key);
    if (value !== undefined && /^[\w.:/-]+$/.test(value)) return slackEvent(value, body);
  }
  return '';
}

/** Slack wraps what happened: `event_callback` says nothing, the inner event's type does. */
function slackEvent(type: string, body: string): string {
  if (type !== 'event_callback') return type;
  const inner = /"event"\s*:\s*(\{)/.exec(body);
  if (inner === null) return type;
  return topLevelStrings(body.slice(inner.index + inner[0].length - 1), ['type']).get('type') ?? type;
}

function short(text: string): string {
  return text.length > MAX_EVENT_LENGTH ? text.slice(0, MAX_EVENT_LENGTH) + '…' : text;
}
