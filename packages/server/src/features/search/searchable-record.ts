import type { SearchableRequest } from '@creel/contract';
import { codingOf, decodedBody } from './decode-body.ts';
import { RecordLabels } from '../requests/record-labels.ts';
import { decodeHead } from '../../database/request-head.ts';
import type { RequestRecord } from '../../database/store.ts';

/**
 * Converts a stored request into a record for the query language. If `needsBody` is false, the record may have only the
 * beginning of its body.
 */
export async function searchableRecord(record: RequestRecord, needsBody: boolean): Promise<SearchableRequest> {
  const { target, sourceIp, bodyIsText, rawHeaders } = decodeHead(record.head);
  const coding = needsBody ? codingOf(rawHeaders) : undefined;
  const body = coding === undefined || record.body === null ? record.body : await decodedBody(record.body, coding);
  const labels = (): RecordLabels => new RecordLabels(rawHeaders, bodyIsText, record.body);
  return {
    method: record.method,
    target,
    rawHeaders,
    body: () => body,
    size: record.size,
    source: () => labels().source,
    eventType: () => labels().eventType,
    sourceIp,
    receivedAt: record.receivedAt,
    saved: record.savedId !== null,
  };
}
