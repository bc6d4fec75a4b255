import { REPLAY_METHODS, replaySchema } from '@creel/contract';
import type { CapturedRequest, OperationInput } from '@creel/contract';
import { defaultRows, sentHeaders } from './header-rows.ts';
import type { HeaderRow } from './header-rows.ts';
import { defaultUrl } from './replay-targets.ts';
import type { LastTarget } from './replay-targets.ts';

/**
 * The line endings of a text. A text area only knows LF (HTML, section 4.10.11), so the original ones are restored
 * when sending.
 */
type LineEnds = 'LF' | 'CRLF' | 'CR' | 'mixed';

/** The line ending of a text; LF if it has none or mixed ones. */
export function lineEndsOf(text: string): LineEnds {
  const found = new Set(text.match(/\r\n|\r|\n/g));
  if (found.size > 1) return 'mixed';
  return found.has('\r\n') ? 'CRLF' : found.has('\r') ? 'CR' : 'LF';
}

/** Normalizes line endings as a text area does. */
export function inTextArea(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** Restores the line endings of a text from a text area. Mixed ones stay LF, because their positions are lost. */
export function withLineEnds(text: string, ends: LineEnds): string {
  if (ends === 'LF' || ends === 'mixed') return text;
  return text.replaceAll('\n', ends === 'CRLF' ? '\r\n' : '\r');
}

/** What the user has changed; everything else follows the captured request. */
export type ReplayDraft = { readonly [Part in keyof ReplayForm]?: ReplayForm[Part] | undefined } & {
  /** The text in the large editor of the body, while it is open. */
  readonly editor?: string | undefined;
};

/** A replay as it would be sent. */
export interface ReplayForm {
  readonly method: string;
  readonly url: string;
  readonly rows: readonly HeaderRow[];
  /** `undefined` sends the captured bytes. */
  readonly body: ReturnType<typeof bodyEdit>;
  /** Renews the signature with the signing secret of the endpoint. */
  readonly sign: boolean;
}

/** The initial replay form of a request. `last` is the last target of its endpoint. */
export function defaultForm(request: CapturedRequest, last?: LastTarget): ReplayForm {
  return {
    method: defaultMethod(request),
    url: defaultUrl(request, last),
    rows: defaultRows(request),
    body: undefined,
    sign: false,
  };
}

/** Applies a draft to a form. Unchanged parts stay the same objects. */
export function withChanges(form: ReplayForm, { method, url, rows, body, sign }: ReplayDraft): ReplayForm {
  return {
    method: method ?? form.method,
    url: url ?? form.url,
    rows: rows ?? form.rows,
    body: body ?? form.body,
    sign: sign ?? form.sign,
  };
}

/** The captured method in capitals. GET if there is none or if it can't be sent. */
export function defaultMethod({ method }: Pick<CapturedRequest, 'method'>): string {
  const wanted = method.toUpperCase();
  return replaySchema.shape.method.safeParse(wanted).success ? wanted : 'GET';
}

/** The methods on offer, plus the request's own. */
export function methodsFor(request: Pick<CapturedRequest, 'method'>): readonly string[] {
  return [...new Set<string>([...REPLAY_METHODS, defaultMethod(request)])];
}

export type CapturedText = ReturnType<typeof capturedText>;

/** A captured text as a text area shows it, with the line ends that it had. */
export function capturedText(text: string) {
  return { shown: inTextArea(text), ends: lineEndsOf(text) };
}

/**
 * The edited body; `undefined` if the text equals the captured one. `captured` is `undefined` if the bytes are not
 * text.
 */
export function bodyEdit(text: string, captured: CapturedText | undefined) {
  return text === captured?.shown ? undefined : { text, ends: captured?.ends ?? 'LF' };
}

/** Where the captured request is stored. */
export interface StoredRequestRef {
  readonly of: { readonly endpointUid: string; readonly id: number };
  /** Bytes of the captured body. */
  readonly size: number;
}

/**
 * The API call of a replay. It names the captured request, whose history it belongs to. An unchanged body is sent as a
 * reference, so that its bytes are exact.
 */
export function toReplayBody(
  { method, url, rows, body, sign }: ReplayForm,
  stored: StoredRequestRef | undefined,
): ReplayCall {
  const call = { method, url: url.trim(), headers: sentHeaders(rows), sign, ...(stored && { of: stored.of }) };
  if (body !== undefined) return { ...call, body: withLineEnds(body.text, body.ends), bodyEncoding: 'utf8' };
  return stored === undefined || stored.size === 0 ? call : { ...call, bodyFrom: stored.of };
}
type ReplayCall = OperationInput<'replay'>['body'];
