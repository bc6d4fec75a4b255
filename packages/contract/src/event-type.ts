import type { RawHeaders } from './raw-headers.ts';
import { skipSpace, stringEnd } from './query/json-text.ts';
import { firstHeader } from './raw-headers.ts';
import { unescapedString } from './query/json-path.ts';

/** Headers in which senders name the event. */
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

/** Keys of a body that name its event. The first one present is used. */
const EVENT_KEYS = [
  'type',
  'event',
  'event_type',
  'eventType',
  'event_name',
  'webhookEvent',
  'topic',
  'action',
  'Type',
] as const;

/** Longer event types are cut to this many characters. */
const MAX_EVENT_LENGTH = 100;

/**
 * Returns the type of the event that a webhook reports, or `null`. It is GitHub's event and `action`, joined with a
 * dot, a header of `EVENT_HEADERS`, or a key of `EVENT_KEYS`. `body` may be only the beginning of the body.
 */
export function eventType(rawHeaders: RawHeaders, body: string): string | null {
  const json = jsonOf(body);
  const github = firstHeader(rawHeaders, 'x-github-event');
  if (github !== undefined && github !== '') {
    const action = topLevelStrings(json, ['action']).get('action');
    return short(action === undefined ? github : `${github}.${action}`);
  }
  for (const name of EVENT_HEADERS) {
    const value = firstHeader(rawHeaders, name);
    if (value !== undefined && value !== '') return short(value);
  }
  const event = bodyEvent(json);
  return event === undefined ? null : short(event);
}

/** GitHub's webhooks and Slack's interactions can be forms, with the JSON in a field `payload`. */
function jsonOf(body: string): string {
  if (!body.startsWith('payload=')) return body;
  return new URLSearchParams(body.slice(0, MAX_SCANNED)).get('payload') ?? '';
}

function bodyEvent(body: string): string | undefined {
  const fields = topLevelStrings(body, EVENT_KEYS);
  for (const key of EVENT_KEYS) {
    const value = fields.get(key);
    if (value !== undefined && /^[\w.:/-]+$/.test(value)) return slackEvent(value, body);
  }
  return undefined;
}

/** Slack wraps events, so the type is that of the inner event. */
function slackEvent(type: string, body: string): string {
  if (type !== 'event_callback') return type;
  const inner = /"event"\s*:\s*(\{)/.exec(body);
  if (inner === null) return type;
  return topLevelStrings(body.slice(inner.index + inner[0].length - 1), ['type']).get('type') ?? type;
}

function short(text: string): string {
  return text.length > MAX_EVENT_LENGTH ? text.slice(0, MAX_EVENT_LENGTH) + '…' : text;
}

/** Maximum number of characters to scan, so that the cost per row stays low. */
const MAX_SCANNED = 16 * 1024;

/**
 * Returns the string values of some top-level keys of a JSON object. The text may be cut off or not be JSON: then it returns what it
 * finds and never throws. The first of duplicate keys is used.
 */
function topLevelStrings(text: string, keys: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const scanned = text.slice(0, MAX_SCANNED);
  let at = skipSpace(scanned, scanned.startsWith('\uFEFF') ? 1 : 0);
  if (scanned[at] !== '{') return found;
  let depth = 0;
  let key: string | undefined;
  while (at < scanned.length && found.size < keys.length) {
    const character = scanned[at];
    if (character === '"') {
      const end = stringEnd(scanned, at);
      if (end < 0) return found;
      const after = skipSpace(scanned, end);
      if (depth === 1) {
        const value = unquote(scanned.slice(at, end));
        if (scanned[after] === ':') key = value;
        else if (key !== undefined && keys.includes(key) && !found.has(key)) found.set(key, value);
      }
      at = after;
      continue;
    }
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth === 0) return found;
    at++;
  }
  return found;
}

function unquote(quoted: string): string {
  return unescapedString(quoted) ?? quoted.slice(1, -1);
}
