import type { CapturedRequest } from '@creel/contract';
import { queryOf } from '@creel/contract';
import type { BodyView } from './view-body.ts';
import { readable } from './wire-text.ts';

type Message = Pick<CapturedRequest, 'method' | 'path' | 'rawTarget' | 'queryParams' | 'rawHeaders' | 'size'>;

/**
 * The request as it stood on the wire, for reading: its line, its headers as they came, an empty line, its body where that is text. The
 * line is without the version of HTTP, which is not kept. `view`: the body as far as it is there.
 */
export function messageText(request: Message, captureUrl: string, view: BodyView | undefined): string {
  const target = request.rawTarget ?? (request.path === '/' ? '' : request.path) + queryOf(request);
  const line = `${request.method} ${new URL(captureUrl).pathname}${readable(target)}`;
  const headers = request.rawHeaders.map(([name, value]) => `${name}: ${readable(value)}`);
  return [line, ...headers, '', bodyText(request.size, view)].join('\n');
}

function bodyText(size: number, view: BodyView | undefined): string {
  if (size === 0) return '';
  const bytes = `${size.toLocaleString('en-US')} ${size === 1 ? 'byte' : 'bytes'}`;
  if (view?.coding !== undefined) return `[${bytes}, coded as ${view.coding.name}]`;
  return view?.text ?? `[${bytes}]`;
}
