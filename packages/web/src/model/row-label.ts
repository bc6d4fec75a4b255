import { sourceLabel } from '@creel/contract';
import type { CapturedRequest, SourceLabel } from '@creel/contract';
import { eventType } from './event-type.ts';

/** What a row says about a request besides its method and path. */
export interface RowLabel {
  readonly source: SourceLabel;
  /** The event's name where one can be told, else empty. */
  readonly event: string;
}

const labels = new WeakMap<CapturedRequest, RowLabel>();

/** The label of a row, worked out once and only for rows that are looked at. */
export function labelOf(request: CapturedRequest & { readonly slim?: RowLabel }): RowLabel {
  if (request.slim !== undefined) return request.slim;
  const known = labels.get(request);
  if (known !== undefined) return known;
  const text = request.bodyEncoding === 'utf8' ? (request.body ?? '') : '';
  const label = {
    source: sourceLabel(request.rawHeaders, text),
    event: eventType(request.rawHeaders, text) || formBeginning(request.contentType, text),
  };
  labels.set(request, label);
  return label;
}

/** Characters of a form that stand for its event. */
const FORM_BEGINNING = 80;

/** Forms name no event; their first fields tell most. */
function formBeginning(contentType: string | null, text: string): string {
  return /x-www-form-urlencoded/i.test(contentType ?? '') ? text.slice(0, FORM_BEGINNING) : '';
}
