import { targetOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { readable } from '../../../bodies/encoding.ts';
import type { BodyView } from '../../../bodies/view-body.ts';
import { countBytes } from '../../../ui/format.ts';

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
  const bytes = countBytes(size);
  if (view?.coding !== undefined) return `[${bytes}, coded as ${view.coding.name}]`;
  return view?.text ?? `[${bytes}]`;
}
