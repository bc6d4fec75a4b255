import { REPLAY_METHODS, queryOf, replaySchema } from '@creel/contract';
import type { CapturedRequest, OperationInput } from '@creel/contract';
import { defaultRows, sentHeaders } from './header-rows.ts';
import type { HeaderRow } from './header-rows.ts';
import { inTextArea, lineEndsOf, withLineEnds } from './line-ends.ts';
import type { LineEnds } from './line-ends.ts';

/** A body that was written in place of the captured one. */
export interface BodyEdit {
  /** As it stands in the text area. */
  readonly text: string;
  /** How its lines end when it is sent. */
  readonly ends: LineEnds;
}

/** What a person changed of a replay; the rest follows the captured request. */
export interface ReplayDraft {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rows?: readonly HeaderRow[] | undefined;
  readonly body?: BodyEdit | undefined;
}

/** A replay as it would be sent. */
export interface ReplayForm {
  readonly method: string;
  readonly url: string;
  readonly rows: readonly HeaderRow[];
  /** `undefined`: the captured bytes. */
  readonly body: BodyEdit | undefined;
}

/** The form that a request's replay begins with (spec 5). */
export function defaultForm(request: CapturedRequest): ReplayForm {
  return {
    method: defaultMethod(request),
    url: defaultUrl(request),
    rows: defaultRows(request),
    body: undefined,
  };
}

/** A form with what was changed in it; what was not stays the same object. */
export function withChanges(form: ReplayForm, { method, url, rows, body }: ReplayDraft): ReplayForm {
  return { method: method ?? form.method, url: url ?? form.url, rows: rows ?? form.rows, body: body ?? form.body };
}

/** Whose host stands there until a person says where to (spec 5). */
export const PLACEHOLDER_HOST = 'example.com';

/** The request's path where it begins with http, else a placeholder host with path and query as they were sent (spec 5). */
export function defaultUrl(request: CapturedRequest): string {
  const target = inUrl(request.path + queryOf(request));
  if (/^http/i.test(target)) return target;
  return `https://${PLACEHOLDER_HOST}${target.startsWith('/') ? '' : '/'}${target}`;
}

/** Bytes that no URL holds as they are, and the number sign, behind which nothing would be sent, are percent-encoded. */
function inUrl(target: string): string {
  return target.replaceAll(/[^!"$-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** The captured method in capitals, or GET (spec 5), which also stands for those that cannot be sent again. */
export function defaultMethod({ method }: Pick<CapturedRequest, 'method'>): string {
  const wanted = method.toUpperCase();
  return replaySchema.shape.method.safeParse(wanted).success ? wanted : 'GET';
}

/** The methods of spec 2, and the request's own where it is another one. */
export function methodsFor(request: Pick<CapturedRequest, 'method'>): readonly string[] {
  return [...new Set<string>([...REPLAY_METHODS, defaultMethod(request)])];
}

/** A captured body that is text, as a text area shows it. */
export interface CapturedText {
  readonly shown: string;
  readonly ends: LineEnds;
}

export function capturedText(text: string): CapturedText {
  return { shown: inTextArea(text), ends: lineEndsOf(text) };
}

/** What a text in the text area means; `undefined` where it is the captured one. `captured` is none where the bytes are no text. */
export function bodyEdit(text: string, captured: CapturedText | undefined): BodyEdit | undefined {
  return text === captured?.shown ? undefined : { text, ends: captured?.ends ?? 'LF' };
}

/** Where the captured bytes are stored. */
export interface BodyPlace {
  readonly endpointUid: string;
  readonly id: number;
}

/** The call that sends it (contract 4). Bytes that nobody changed are named, not carried, so that they go out exactly. */
export function orderOf({ method, url, rows, body }: ReplayForm, stored: BodyPlace | undefined): ReplayCall {
  const order = { method, url: url.trim(), headers: sentHeaders(rows) };
  if (body !== undefined) return { ...order, body: withLineEnds(body.text, body.ends), bodyEncoding: 'utf8' };
  return stored === undefined ? order : { ...order, bodyFrom: stored };
}
export type ReplayCall = OperationInput<'replay'>['body'];
