import {
  BODY_PREVIEW_BYTES,
  eventType,
  firstHeader,
  headerMap,
  indexOfUnsavedId,
  queryMap,
  sourceLabel,
  unsavedId,
} from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { LongText, utf8Boundary } from '../../http/large-answer.ts';
import { decodeHead, labelText } from '../../database/stored-request.ts';
import type { RequestRecord, RequestRef } from '../../database/stored-request.ts';
import { ProblemError } from '../../http/problem.ts';
import { isoTime } from '../../iso-time.ts';

type Encoding = CapturedRequest['bodyEncoding'];

/** A stored request as the API and the live view return it, with the part of its body that the record holds. */
export function presentRequest(record: RequestRecord): CapturedRequest {
  return present(record, (bytes, encoding) => bytes.toString(encoding));
}

/** The same for a large body, which stays bytes until its JSON is written. */
export function presentLarge(record: RequestRecord): Presented<LongText> {
  return present(record, (bytes, encoding) => new LongText(bytes, encoding));
}

/** A captured request with another form of its body. */
type Presented<Body> = Omit<CapturedRequest, 'body'> & { readonly body: Body | null };

function present<Body>(record: RequestRecord, toBody: (bytes: Buffer, encoding: Encoding) => Body): Presented<Body> {
  const { target, sourceIp, bodyIsText, rawHeaders } = decodeHead(record.head);
  const text = labelText(bodyIsText, record.body);
  const queryAt = target.indexOf('?');
  const path = queryAt < 0 ? target : target.slice(0, queryAt);
  return {
    id: record.savedId ?? unsavedId(record.index),
    index: record.index,
    endpointId: record.endpointId,
    method: record.method,
    path: path === '' ? '/' : path,
    rawTarget: target,
    queryParams: queryAt < 0 ? {} : queryMap(target.slice(queryAt + 1)),
    headers: headerMap(rawHeaders),
    rawHeaders,
    ...presentBody(record, bodyIsText, toBody),
    contentType: firstHeader(rawHeaders, 'content-type') ?? null,
    size: record.size,
    sourceIp,
    timestamp: isoTime(record.receivedAt),
    saved: record.savedId !== null,
    source: sourceLabel(rawHeaders, text),
    eventType: eventType(rawHeaders, text),
    lastDelivery: record.delivery?.last ?? null,
    deliveryPending: record.delivery?.isPending ?? false,
  };
}

/** A stored request for lists and live messages: at most the first 16 KiB of the body. */
export function presentPreview(record: RequestRecord): CapturedRequest {
  return presentRequest({ ...record, body: record.body?.subarray(0, BODY_PREVIEW_BYTES) ?? null });
}

function presentBody<Body>(
  record: RequestRecord,
  isText: boolean,
  toBody: (bytes: Buffer, encoding: Encoding) => Body,
): Pick<Presented<Body>, 'body' | 'bodyEncoding' | 'bodyTruncated'> {
  const { body } = record;
  const bodyEncoding = isText ? 'utf8' : 'base64';
  if (body === null) return { body: null, bodyEncoding: 'utf8', bodyTruncated: false };
  const bodyTruncated = body.length < record.size;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const kept = isText && bodyTruncated ? bytes.subarray(0, utf8Boundary(bytes)) : bytes;
  return { body: toBody(kept, bodyEncoding), bodyEncoding, bodyTruncated };
}

/** The request that a path names. @throws ProblemError REQUEST_NOT_FOUND for an invalid id */
export function parseRequestId(id: string): RequestRef {
  const number = /^-?[1-9]\d{0,14}$/.test(id) ? Number(id) : Number.NaN;
  if (number > 0) return { savedId: number };
  const index = indexOfUnsavedId(number);
  if (index === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  return { index };
}

/** @throws ProblemError REQUEST_NOT_FOUND */
export function expectFound(record: RequestRecord | undefined): RequestRecord {
  if (record === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  return record;
}
