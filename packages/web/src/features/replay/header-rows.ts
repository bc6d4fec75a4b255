import { endToEndHeaders, firstHeader, replaySchema } from '@creel/contract';
import type { CapturedRequest, HeaderPair } from '@creel/contract';
import { readable, wireText } from '../../bodies/wire-text.ts';

/** A row of the replay's header table. */
export interface HeaderRow {
  /** Tells rows apart while they are added and removed. */
  readonly id: number;
  readonly name: string;
  /** As it is read and edited. */
  readonly value: string;
  /** What the value was made from: a character for each byte that was captured. Rows that were added have none. */
  readonly captured?: string;
}

const DEFAULT_TYPE = 'application/json';
/** The fixed value of spec 5. */
const SOURCE = 'Creel';

/**
 * The headers that a replay begins with (spec 5): the content type, where it comes from, and what was captured, in its order, case and
 * number, without what belonged to the connection and without the content type once more.
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

/** What of a row is sent: the captured bytes while the value reads as they do, else the UTF-8 of what was written. */
function sentValue({ value, captured }: HeaderRow): string {
  return captured !== undefined && value === readable(captured) ? captured : wireText(value);
}

/** A row with an empty name or value is not sent (spec 5). */
export function isSent({ name, value }: HeaderRow): boolean {
  return name.trim() !== '' && value.trim() !== '';
}

/** The rows as a call carries them. */
export function sentHeaders(rows: readonly HeaderRow[]): HeaderPair[] {
  return rows.filter(isSent).map((row) => ({ key: row.name, value: sentValue(row) }));
}

/** The part of a row that cannot be sent, by the contract's schema. */
export function mistakeIn(row: HeaderRow): 'name' | 'value' | undefined {
  const fits = (headers: readonly HeaderPair[]) => replaySchema.shape.headers.safeParse(headers).success;
  if (fits(sentHeaders([row]))) return undefined;
  return fits([{ key: row.name, value: '-' }]) ? 'value' : 'name';
}

/** The rows with an empty one behind them. */
export function withNewRow(rows: readonly HeaderRow[]): HeaderRow[] {
  return [...rows, { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, name: '', value: '' }];
}

/** How senders call the header that vouches for the body: Stripe, GitHub, Shopify, Slack, Twilio and their like. */
const SIGNATURE = /(^|-)(signature|hmac)(-|$)/i;

/** True where a header that is sent vouches for the captured body. */
export function hasSignature(rows: readonly HeaderRow[]): boolean {
  return rows.some((row) => isSent(row) && SIGNATURE.test(row.name));
}

/** The content coding that the rows declare; `undefined` without one. */
export function declaredCoding(rows: readonly HeaderRow[]): string | undefined {
  const row = rows.find((each) => isSent(each) && each.name.trim().toLowerCase() === 'content-encoding');
  return row === undefined || row.value.trim().toLowerCase() === 'identity' ? undefined : row.value.trim();
}
