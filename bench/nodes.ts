import { join } from 'node:path';
import { captureScenario, echoScenario } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';
import { startNginx } from './senders/nginx.ts';
import { startCreel, startNatsWithLog, startWarmPostgres } from './server-under-test.ts';
import type { Measured, MeasuredCreel, Programs } from './server-under-test.ts';

/** The scenario that the others of this part are compared with. */
export const WITHOUT_BUS = 'node, PostgreSQL, no bus';

/**
 * What several nodes cost one node: notices through PostgreSQL, notices through NATS with the overflow log connected,
 * and nginx in front. Each node has its own PostgreSQL. A second node without a bus shows how much equal nodes differ.
 * The nodes with a bus have an idle second node, because a node alone sends no notices.
 */
export async function nodeScenarios(echo: Measured, programs: Programs): Promise<Scenario[]> {
  const startNode = async (name: string, given: Record<string, string> = {}): Promise<MeasuredCreel> => {
    const environment = { DATABASE_URL: programs.keep(await startWarmPostgres()).url, ...given };
    const program = join(import.meta.dirname, 'bus-node.ts');
    const node = programs.keep(await startCreel(name, environment, program));
    if (given['BENCH_BUS'] !== 'none') programs.keep(await startCreel('its second node', environment, program));
    return node;
  };
  const nats = programs.keep(await startNatsWithLog());
  const withoutBus = await startNode(WITHOUT_BUS, { BENCH_BUS: 'none' });
  const control = await startNode('the same again', { BENCH_BUS: 'none' });
  const withNotify = await startNode('node, PostgreSQL, NOTIFY');
  const withNats = {
    ...(await startNode('node, PostgreSQL, NATS', { NATS_URL: nats.url })),
    helpers: [nats.pid],
  };
  const [nodeProxy, echoProxy] = [
    programs.keep(await startNginx(withNotify.port, 'keep-alive')),
    programs.keep(await startNginx(echo.port, 'keep-alive')),
  ];
  const captureUrl = withNotify.captureUrl.replace(`:${withNotify.port}/`, `:${nodeProxy.port}/`);
  return [
    echoScenario({ ...echo, name: 'the echo, behind nginx', port: echoProxy.port, helpers: [echoProxy.pid] }),
    ...[withoutBus, control, withNotify, withNats].map(captureScenario),
    captureScenario({
      ...withNotify,
      name: 'the one with NOTIFY, behind nginx',
      captureUrl,
      helpers: [nodeProxy.pid],
    }),
  ];
}
