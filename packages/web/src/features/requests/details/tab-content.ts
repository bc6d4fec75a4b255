import { targetOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { readable, escapeBidiControls, tryDecode } from '../../../bodies/encoding.ts';
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
