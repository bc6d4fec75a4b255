import { indexOfUnsavedId } from '@creel/contract';
import type { RequestName } from '../../database/store.ts';
import { ProblemError } from '../../http/problem.ts';

/** The request named by the path; an invalid id matches nothing. */
export function requestName(id: string): RequestName {
  const number = /^-?\d{1,15}$/.test(id) ? Number(id) : Number.NaN;
  if (number > 0) return { savedId: number };
  const index = indexOfUnsavedId(number);
  if (index === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  return { index };
}
