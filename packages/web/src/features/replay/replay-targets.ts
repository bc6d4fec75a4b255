import { queryOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { z } from 'zod';
import { storedValue } from '../../ui/state.ts';

/** Host of the URL that is shown until the user enters another one. Nothing is sent to it. */
const PLACEHOLDER_HOST = 'example.com';

const lastTargetSchema = z.object({
  /** Path of the request that was sent. */
  path: z.string(),
  /** Where it was sent, without query and fragment. */
  url: z.string(),
});
export type LastTarget = z.infer<typeof lastTargetSchema>;

type CapturedTarget = Pick<CapturedRequest, 'path' | 'rawTarget' | 'queryParams'>;

/**
 * The initial URL of a replay: the request's path if it starts with http. Otherwise the path and query as sent are
 * appended to the base of the endpoint's last target. Without one, a placeholder host is the base.
 */
export function defaultUrl(request: CapturedTarget, last: LastTarget | undefined): string {
  const path = inUrl(request.path);
  const query = inUrl(queryOf(request));
  if (/^http/i.test(path)) return path + query;
  if (last === undefined) return `https://${PLACEHOLDER_HOST}${withSlash(path)}${query}`;
  if (last.path === request.path) return last.url + query;
  const base = baseOf(last);
  return (path === '/' && /^https?:\/\/[^/]+\/./i.test(base) ? base : base + withSlash(path)) + query;
}

/** What to remember after a request was sent to a valid URL. */
export function lastTargetOf({ path }: Pick<CapturedRequest, 'path'>, url: string): LastTarget {
  const [withoutQuery = url] = url.split(/[?#]/, 1);
  return { path, url: /^https?:\/\/[^/]+$/i.test(withoutQuery) ? `${withoutQuery}/` : withoutQuery };
}

/** The target without the captured path at its end. If the user replaced that path, only scheme and host. */
function baseOf({ path, url }: LastTarget): string {
  const captured = withSlash(inUrl(path));
  const [origin = url] = /^https?:\/\/[^/]+/i.exec(url) ?? [];
  const base =
    captured === '/' ? url : url.slice(origin.length).endsWith(captured) ? url.slice(0, -captured.length) : origin;
  return base.replace(/\/+$/, '');
}

function withSlash(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** Percent-encodes bytes that a URL can't contain and the number sign, after which nothing would be sent. */
function inUrl(target: string): string {
  return target.replaceAll(/[^!"$-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** The hint for a URL whose host is the placeholder; `undefined` for every other URL. */
export function placeholderNote(url: string): string | undefined {
  if (!URL.canParse(url) || new URL(url).hostname.replace(/\.$/, '') !== PLACEHOLDER_HOST) return undefined;
  return `${PLACEHOLDER_HOST} is a placeholder. Enter the URL of your own destination.`;
}

/** Recent targets by endpoint uid, newest first. */
export const replayTargetsPreference = storedValue(
  'replayTargets',
  z.record(z.string(), z.array(z.string()).readonly()),
  {},
);

/** Recent targets by endpoint uid, newest first. */
export type ReplayTargets = Readonly<Record<string, readonly string[]>>;

/** The last target by endpoint uid: later replays start with its base. */
export const lastTargetPreference = storedValue('lastDestination', z.record(z.string(), lastTargetSchema), {});

/** Maximum number of targets per endpoint, and of endpoints. */
export const MAX_TARGETS = 8;
export const MAX_ENDPOINTS = 40;
/** Longer targets are not remembered. A captured URL may have many kilobytes. */
const MAX_KEPT_LENGTH = 2000;

/** Adds a target as the newest. */
export function withTarget(targets: ReplayTargets, uid: string, url: string): ReplayTargets {
  if (url.length > MAX_KEPT_LENGTH) return targets;
  const known = targets[uid] ?? [];
  return withNewest(targets, uid, [url, ...known.filter((each) => each !== url)].slice(0, MAX_TARGETS));
}

/** Stores where a request was sent: as a recent target, and as the last one. */
export function rememberTarget(uid: string, request: Pick<CapturedRequest, 'path'>, url: string): void {
  replayTargetsPreference.set(withTarget(replayTargetsPreference.read(), uid, url));
  if (url.length > MAX_KEPT_LENGTH) return;
  lastTargetPreference.set(withNewest(lastTargetPreference.read(), uid, lastTargetOf(request, url)));
}

/** Sets the value of an endpoint. Over the maximum, the endpoint that was set first is dropped. */
function withNewest<T>(values: Readonly<Record<string, T>>, uid: string, value: T): Record<string, T> {
  const { [uid]: _, ...others } = values;
  return Object.fromEntries([...Object.entries(others).slice(1 - MAX_ENDPOINTS), [uid, value]]);
}
