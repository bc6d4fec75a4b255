import { queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { queryOptions } from '@tanstack/react-query';
import { bodyViewQuery, readWholeRequest } from '../../../api/body-queries.ts';
import { queryClient, queryKeys } from '../../../api/query-client.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import type { BodyView } from '../../../bodies/view-body.ts';
import { diffFields, diffHeaders, diffLines, jsonDiffLines } from './diff.ts';

export const compareQuery = (uid: string, left: ListedRequest, right: ListedRequest, sortsKeys: boolean) =>
  queryOptions({
    queryKey: queryKeys.comparison(uid, left.index, right.index, sortsKeys),
    queryFn: () => compare(uid, left, right, sortsKeys),
    gcTime: 0,
  });

export type Comparison = Awaited<ReturnType<typeof compare>>;

/**
 * Compares method, path, query parameters and headers by name, and the first part of the bodies by line. JSON is
 * formatted first. `sortsKeys` ignores the order of keys in JSON.
 */
async function compare(uid: string, left: ListedRequest, right: ListedRequest, sortsKeys: boolean) {
  const [ours, theirs] = await Promise.all([readSide(uid, left), readSide(uid, right)]);
  const [a, b] = [linesOf(ours.view, sortsKeys), linesOf(theirs.view, sortsKeys)];
  const haveLines = a !== undefined && b !== undefined;
  return {
    left: left.index,
    right: right.index,
    isJson: ours.view?.json !== undefined && theirs.view?.json !== undefined,
    /** Method and path. */
    line: diffFields(lineOfRequest(ours.whole), lineOfRequest(theirs.whole)),
    query: diffFields(queryPairs(ours.whole), queryPairs(theirs.whole)),
    headers: diffHeaders(ours.whole.rawHeaders, theirs.whole.rawHeaders),
    /** `undefined` if the bodies can't be compared by line; then `sentence` says why. */
    body: haveLines ? diffLines(a, b) : undefined,
    sentence: haveLines
      ? 'The bodies are too long and too different to be compared line by line.'
      : bytesSentence(ours.view, theirs.view),
  };
}

async function readSide(uid: string, request: ListedRequest) {
  const whole = await readWholeRequest(uid, request);
  const view = request.size === 0 ? undefined : await queryClient.fetchQuery(bodyViewQuery(uid, whole, 'beginning'));
  return { whole, view };
}

function lineOfRequest({ method, path }: CapturedRequest): [string, string][] {
  return [
    ['Method', method],
    ['Path', path],
  ];
}

/** The lines of a body: formatted JSON, or text at its line breaks. `undefined` for binary bodies. */
function linesOf(view: BodyView | undefined, sortsKeys: boolean): string[] | undefined {
  if (view === undefined) return [];
  const { json, text } = view;
  return json === undefined ? text?.split(/\r?\n/) : jsonDiffLines(json, sortsKeys);
}

function bytesSentence(left: BodyView | undefined, right: BodyView | undefined): string {
  const same =
    left?.bytes.length === right?.bytes.length && left?.bytes.every((byte, at) => byte === right?.bytes[at]) === true;
  if (same) return 'Both bodies have the same bytes.';
  return "The bodies differ. They can't be compared line by line, because at least one is binary.";
}
