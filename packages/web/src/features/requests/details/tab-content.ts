import { targetOf, tryDecode } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import type { BodyKind } from '../../../bodies/body-kind.ts';
import { readable, escapeBidiControls } from '../../../bodies/encoding.ts';
import type { BodyView } from '../../../bodies/view-body.ts';
import { counted } from '../../../ui/format.ts';
import type { DetailTab } from '../use-view-state.ts';

/**
 * The initial tab of a request. Headers without a body. JSON if the content type contains json. Raw if it contains
 * text, xml or html. Otherwise JSON if the body parses as JSON, else Raw.
 */
export function defaultTab(size: number, contentType: string | null, parsesAsJson: () => boolean): DetailTab {
  if (size === 0) return 'headers';
  const type = (contentType ?? '').toLowerCase();
  if (type.includes('json')) return 'json';
  if (/text|xml|html/.test(type)) return 'raw';
  return parsesAsJson() ? 'json' : 'raw';
}

/** The views of the Raw tab. */
export const RAW_VIEWS = {
  fields: 'Fields',
  parts: 'Parts',
  image: 'Image',
  formatted: 'Formatted',
  text: 'Text',
  hex: 'Hex',
  message: 'Message',
} as const;
export type RawView = keyof typeof RAW_VIEWS;

/** True for a body that should be JSON. If it is not, the JSON tab shows its text and the error. */
export const isMeantAsJson = (contentType: string | null, text = ''): boolean =>
  /json/i.test(contentType ?? '') || /^\s*[{[]/.test(text);

/** Kinds of bodies whose first view in the Raw tab is not a text. */
const FIRST_VIEWS: Partial<Record<BodyKind, RawView>> = { form: 'fields', multipart: 'parts', binary: 'hex' };

/** Views of the Raw tab that show one text. */
const TEXT_VIEWS: ReadonlySet<RawView> = new Set(['formatted', 'text', 'message']);

/** True if the tab shows something that can be searched. `rawView` is the chosen view of the Raw tab. */
export function isSearchable(
  { size, contentType }: Pick<CapturedRequest, 'size' | 'contentType'>,
  view: BodyView | undefined,
  tab: DetailTab,
  rawView: RawView | undefined,
): boolean {
  if (tab === 'headers') return true;
  if (view?.text === undefined) return false;
  if (tab === 'json') return view.json !== undefined || (size > 0 && isMeantAsJson(contentType, view.text));
  return tab === 'raw' && TEXT_VIEWS.has(rawViewOf(view, rawView));
}

/** The view of the Raw tab: the chosen one, or the first one for the kind of the body. */
export const rawViewOf = (view: BodyView, chosen: RawView | undefined): RawView =>
  chosen ?? FIRST_VIEWS[view.kind] ?? 'text';

type Message = Pick<CapturedRequest, 'method' | 'path' | 'rawTarget' | 'queryParams' | 'rawHeaders' | 'size'>;

/**
 * The request as on the wire, for display: request line, headers as received, an empty line, and the body if it is
 * text. The request line has no HTTP version, because it is not stored. `view` is the body as far as it is loaded.
 */
export function messageText(request: Message, captureUrl: string, view: BodyView | undefined): string {
  const line = `${request.method} ${new URL(captureUrl).pathname}${readable(targetOf(request))}`;
  const headers = request.rawHeaders.map(([name, value]) => `${name}: ${readable(value)}`);
  return [line, ...headers, '', bodyText(request.size, view)].join('\n');
}

function bodyText(size: number, view: BodyView | undefined): string {
  if (size === 0) return '';
  const bytes = counted(size, 'byte');
  if (view?.coding !== undefined) return `[${bytes}, coded as ${view.coding.name}]`;
  return view?.text ?? `[${bytes}]`;
}

/**
 * The path with its percent-encoding decoded; `undefined` if that changes nothing, or if the bytes are not UTF-8 or
 * hold control characters.
 */
export function decodedPath(path: string): string | undefined {
  const decoded = tryDecode(() => decodeURIComponent(path)) ?? path;
  return decoded === path || /\p{Cc}/u.test(decoded) ? undefined : escapeBidiControls(decoded);
}
