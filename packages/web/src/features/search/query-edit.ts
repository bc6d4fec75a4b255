import { parseQuery, printQuery } from '@creel/contract';
import type { Query, Term } from '@creel/contract';

/** The terms that apply to the whole query, and groups. `undefined` for a query with a mistake. */
function partsOf(text: string): readonly Query[] | undefined {
  const parsed = parseQuery(text);
  if (!parsed.ok) return undefined;
  return parsed.query.kind === 'and' ? parsed.query.parts : [parsed.query];
}

/** The values of the terms of a kind, as in the query: 'GET,POST'. Empty if there is no such term. */
export function valueOf(text: string, kind: Term['kind']): string {
  const terms = partsOf(text)?.filter((part) => part.kind === kind) ?? [];
  return terms.map((term) => printQuery(term).replace(`${kind}:`, '')).join(' ');
}

/** Replaces all terms of a kind by one, or removes them. A query with a mistake does not change. */
export function withValue(text: string, kind: Term['kind'], value: string): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const others = parts.filter((part) => part.kind !== kind);
  const added = value === '' ? [] : (partsOf(`${kind}:${value}`) ?? []);
  return printQuery({ kind: 'and', parts: [...others, ...added] });
}
