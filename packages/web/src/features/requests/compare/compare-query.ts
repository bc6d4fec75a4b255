import { queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { queryOptions } from '@tanstack/react-query';
import { bodyViewQuery, readWholeBody, readWholeRequest } from '../../../api/body-queries.ts';
import { queryClient, queryKeys } from '../../../api/query-client.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import type { BodyView } from '../../../bodies/view-body.ts';
import { diffFields, diffHeaders, diffLines, jsonDiffLines } from './diff.ts';

/** Decoded bytes of a body above which its lines are not compared, because that would block the page for seconds. */
const MAX_DIFFED_BYTES = 4 * 1024 * 1024;

const OTHER_BYTES =
  'The bodies have the same content in other bytes: for example other spaces, another order of keys, or another compression.';

/** The comparison of two requests. It reads the bodies that are not loaded. */
export const compareQuery = (uid: string, left: ListedRequest, right: ListedRequest, sortsKeys: boolean) =>
  queryOptions({
    queryKey: queryKeys.comparison(uid, left.index, right.index, sortsKeys),
    queryFn: () => compare(uid, left, right, sortsKeys),
    gcTime: 0,
  });

export type Comparison = Awaited<ReturnType<typeof compare>>;

/**
 * Compares method, path, query parameters and headers by name, and the bodies by line. JSON is formatted first.
 * `sortsKeys` ignores the order of keys in JSON.
 */
async function compare(uid: string, left: ListedRequest, right: ListedRequest, sortsKeys: boolean) {
  const [ours, theirs] = await Promise.all([readSide(uid, left), readSide(uid, right)]);
  return {
    left: left.index,
    right: right.index,
    isJson: ours.view?.json !== undefined && theirs.view?.json !== undefined,
    /** Method and path. */
    line: diffFields(lineOfRequest(ours.whole), lineOfRequest(theirs.whole)),
    query: diffFields(queryPairs(ours.whole), queryPairs(theirs.whole)),
    headers: diffHeaders(ours.whole.rawHeaders, theirs.whole.rawHeaders),
    body: compareBodies(ours, theirs, sortsKeys),
  };
}

type Side = Awaited<ReturnType<typeof readSide>>;

async function readSide(uid: string, request: ListedRequest) {
  const whole = await readWholeRequest(uid, request);
  const bytes = await readWholeBody(uid, whole);
  const view = request.size === 0 ? undefined : await queryClient.fetchQuery(bodyViewQuery(uid, whole, 'whole'));
  return { whole, bytes, view };
}

function lineOfRequest({ method, path }: CapturedRequest): [string, string][] {
  return [
    ['Method', method],
    ['Path', path],
  ];
}

function compareBodies(left: Side, right: Side, sortsKeys: boolean) {
  const [a, b] = [linesOf(left.view, sortsKeys), linesOf(right.view, sortsKeys)];
  const lines = a && b && diffLines(a, b);
  const isSame = left.bytes.length === right.bytes.length && left.bytes.every((byte, at) => byte === right.bytes[at]);
  return {
    /** `undefined` if the bodies can't be compared by line. */
    lines,
    /** How the bodies compare as a whole, for when no line differs. */
    sentence: isSame ? 'The bodies are the same.' : lines === undefined ? withoutLines(left, right) : OTHER_BYTES,
  };
}

/** The lines of a body: formatted JSON, or text at its line breaks. `undefined` for binary and very long bodies. */
function linesOf(view: BodyView | undefined, sortsKeys: boolean): string[] | undefined {
  if (view === undefined) return [];
  const { bytes, json, text, whole } = view;
  if (bytes.length > MAX_DIFFED_BYTES || !whole) return undefined;
  return json === undefined ? text?.split(/\r?\n/) : jsonDiffLines(json, sortsKeys);
}

function withoutLines(...sides: readonly Side[]): string {
  const isBinary = sides.some(({ view }) => view !== undefined && view.text === undefined);
  return `The bodies differ. They can't be compared line by line, because ${isBinary ? 'at least one is binary' : 'they are too long'}.`;
}
