import { parseQuery, parseSearchPosition, printSearchPosition, SEARCHED_HEADER } from '@creel/contract';
import type { Query } from '@creel/contract';
import type { Handlers } from '../../http/call.ts';
import { listAnswer, rawBytesOf } from '../../http/large-answer.ts';
import { closedSignal, setNextPage } from '../../http/call.ts';
import { presentPreview } from '../requests/service.ts';
import { invalidQuery } from '../../http/problem.ts';

export const searchHandlers = {
  async search({ app, loggedIn, endpoint, query, reply, reserve }) {
    const userId = loggedIn.user.id;
    const parsed = queryOf(query.q);
    const page = await app.searches.run({
      userId,
      endpointId: endpoint?.id,
      query: parsed,
      limit: query.limit,
      before: query.before === undefined ? undefined : parseSearchPosition(query.before),
      maxRows: query.scan,
      // A user who continues to type has abandoned the search for the previous text.
      signal: closedSignal(reply),
    });
    reserve(rawBytesOf(page.found));
    void reply.header(SEARCHED_HEADER, page.searched);
    if (page.next !== undefined)
      setNextPage(reply, { q: query.q, limit: query.limit, before: printSearchPosition(page.next) });
    return listAnswer(page.found, (record) => ({ ...presentPreview(record), endpointUid: record.endpointUid }));
  },
} satisfies Handlers;

/** @throws ProblemError INVALID_QUERY with the position of the mistake */
function queryOf(text: string): Query {
  const result = parseQuery(text);
  if (result.ok) return result.query;
  throw invalidQuery('q', result.sentence, result.position);
}
