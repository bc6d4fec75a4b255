import { targetUrlSchema } from '@creel/contract';
import { UsageProblem } from '../cli-problem.ts';

/** Where captures are forwarded to: any http or https URL that this machine reaches. @throws UsageProblem */
export function parseDestination(text: string): URL {
  const parsed = targetUrlSchema.safeParse(text);
  if (!parsed.success) {
    const why = URL.canParse(text) && new URL(text).username !== '' ? ` ${parsed.error.issues[0]?.message}` : '';
    throw new UsageProblem(`“${text}” is no URL to forward to.${why} Say one such as http://localhost:4000/webhooks`);
  }
  return new URL(parsed.data);
}

/**
 * Path and query of a capture at its destination: the destination's own, and behind them what followed the capture URL, as it was sent.
 * So a proxy would do it that stands at the capture URL.
 */
export function pathAt({ pathname, search }: URL, rawTarget: string): string {
  const [, path = '', query = ''] = /^([^?]*)(\?.*)?$/s.exec(rawTarget) ?? [];
  const before = path === '' ? pathname : pathname.replace(/\/$/, '');
  const joined = search === '' || query.length < 2 ? search || query : `${search}&${query.slice(1)}`;
  return before + path + joined;
}
