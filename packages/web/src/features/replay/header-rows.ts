import { endToEndHeaders, firstHeader, replaySchema, utf8Text } from '@creel/contract';
import type { CapturedRequest, HeaderPair } from '@creel/contract';
import { readable } from '../../bodies/encoding.ts';

/** A row of the replay's header table. */
export interface HeaderRow {
  /** Identifies the row while rows are added and removed. */
  readonly id: number;
  readonly name: string;
  /** The value as shown and edited. */
  readonly value: string;
  /** The captured value, one character per byte. Added rows have none. */
  readonly captured?: string;
}

const DEFAULT_TYPE = 'application/json';
/** Value of the `X-Webhook-Source` header. */
const SOURCE = 'Creel';

/**
 * The initial headers of a replay: content type, `X-Webhook-Source`, and the captured headers in their order, case and
 * number. Connection headers and the repeated content type are left out.
 */
export function defaultRows({
  rawHeaders,
  contentType,
}: Pick<CapturedRequest, 'rawHeaders' | 'contentType'>): HeaderRow[] {
  const type = firstHeader(rawHeaders, 'content-type') || contentType || DEFAULT_TYPE;
  const others = endToEndHeaders(rawHeaders).filter(([name]) => name.toLowerCase() !== 'content-type');
  return [['Content-Type', type] as const, ['X-Webhook-Source', SOURCE] as const, ...others].map(
    ([name, captured], id) => ({ id, name, value: readable(captured), captured }),
  );
}

/** The value to send: the captured bytes if the value is unchanged, else its UTF-8. */
function sentValue({ value, captured }: HeaderRow): string {
  return captured !== undefined && value === readable(captured) ? captured : utf8Text(value);
}

/** Rows with an empty name or value are not sent. */
function isSent({ name, value }: HeaderRow): boolean {
  return name.trim() !== '' && value.trim() !== '';
}

/** The rows in the form of the API call. */
export function sentHeaders(rows: readonly HeaderRow[]): HeaderPair[] {
  return rows.filter(isSent).map((row) => ({ key: row.name, value: sentValue(row) }));
}

/** The part of a row that the contract's schema rejects. */
export function mistakeIn(row: HeaderRow): 'name' | 'value' | undefined {
  const fits = (headers: readonly HeaderPair[]) => replaySchema.shape.headers.safeParse(headers).success;
  if (fits(sentHeaders([row]))) return undefined;
  return fits([{ key: row.name, value: '-' }]) ? 'value' : 'name';
}

/** The rows with an empty one added. */
export function withNewRow(rows: readonly HeaderRow[]): HeaderRow[] {
  return [...rows, { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, name: '', value: '' }];
}

/** Header names of body signatures: Stripe, GitHub, Shopify, Slack, Twilio and others. */
const SIGNATURE = /(^|-)(signature|hmac)(-|$)/i;

/** True if a sent header is a signature of the captured body. */
export function hasSignature(rows: readonly HeaderRow[]): boolean {
  return rows.some((row) => isSent(row) && SIGNATURE.test(row.name));
}

/** The content coding that the rows declare; `undefined` if there is none. */
export function declaredCoding(rows: readonly HeaderRow[]): string | undefined {
  const row = rows.find((each) => isSent(each) && each.name.trim().toLowerCase() === 'content-encoding');
  return row === undefined || row.value.trim().toLowerCase() === 'identity' ? undefined : row.value.trim();
}
