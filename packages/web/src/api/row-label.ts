import type { CapturedRequest } from '@creel/contract';

/** What a row shows besides method and path. */
export interface RowLabel {
  readonly source: string;
  /** The event type, or the first fields of a form; else empty. */
  readonly event: string;
}

/** The label of a row. */
export function labelOf(request: CapturedRequest & { readonly slim?: RowLabel }): RowLabel {
  const { slim, source, eventType, contentType, body, bodyEncoding } = request;
  if (slim !== undefined) return slim;
  const text = bodyEncoding === 'utf8' ? (body ?? '') : '';
  return { source, event: eventType ?? formBeginning(contentType, text) };
}

/** Maximum of characters of a form that are shown as its event. */
const FORM_BEGINNING = 80;

/** Forms have no event type, so their first fields are shown. */
function formBeginning(contentType: string | null, text: string): string {
  return /x-www-form-urlencoded/i.test(contentType ?? '') ? text.slice(0, FORM_BEGINNING) : '';
}
