import { median } from './median.ts';
import type { MeasuredCreel } from './server-under-test.ts';

export interface DashboardTimes {
  readonly listMs: number;
  readonly searchMs: number;
  readonly detailMs: number;
}

async function medianMs(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  return median(taken);
}

/** What a person at the dashboard waits for: the first page, a search that finds nothing (all is read), the endpoint's numbers. */
export async function dashboardTimes({ client, uid }: MeasuredCreel, rounds = 5): Promise<DashboardTimes> {
  return {
    listMs: await medianMs(rounds, () => client.call('listUnsaved', { params: { uid } })),
    searchMs: await medianMs(rounds, () => client.call('search', { query: { q: 'no such text anywhere' } })),
    detailMs: await medianMs(rounds, () => client.call('getEndpoint', { params: { uid } })),
  };
}
