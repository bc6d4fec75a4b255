import type { CapturedRequest } from '@creel/contract';

/** What a row says about a request besides its method and path. */
export interface RowLabel {
  readonly source: string;
  /** The event type, or the beginning of a form; else empty. */
  readonly event: string;
}

/** The label of a row. */
export function labelOf(request: CapturedRequest & { readonly slim?: RowLabel }): RowLabel {
  const { slim, source, eventType, contentType, body, bodyEncoding } = request;
  if (slim !== undefined) return slim;
  const text = bodyEncoding === 'utf8' ? (body ?? '') : '';
  return { source, event: eventType ?? formBeginning(contentType, text) };
}

/** Characters of a form that stand for its event. */
const FORM_BEGINNING = 80;

/** Forms name no event; their first fields tell most. */
function formBeginning(contentType: string | null, text: string): string {
  return /x-www-form-urlencoded/i.test(contentType ?? '') ? text.slice(0, FORM_BEGINNING) : '';
}
