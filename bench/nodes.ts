import { join } from 'node:path';
import { captureScenario, echoScenario } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';
import { startNginx } from './senders/nginx.ts';
import { startCreel, startNatsWithLog, startWarmPostgres } from './server-under-test.ts';
import type { Measured, MeasuredCreel } from './server-under-test.ts';

/** The scenario that the others of this part are compared with. */
export const WITHOUT_BUS = 'node, PostgreSQL, no bus';

export interface StartedPart {
  readonly scenarios: readonly Scenario[];
  readonly stop: () => Promise<void>;
}

/**
 * What several nodes cost one node: notices through PostgreSQL, notices through NATS with the overflow log connected,
 * and nginx in front. All nodes run the same program from the sources, each on its own PostgreSQL. A second node without
 * a bus shows how much equal nodes differ. The nodes with a bus have an idle second node, because a node alone sends no
 * notices.
 */
export async function startNodes(echo: Measured): Promise<StartedPart> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  const keep = <T extends { stop: () => Promise<void> }>(program: T): T => {
    stops.push(() => program.stop());
    return program;
  };
  const startNode = async (name: string, given: Record<string, string> = {}): Promise<MeasuredCreel> => {
    const environment = { DATABASE_URL: keep(await startWarmPostgres()).url, ...given };
    const program = join(import.meta.dirname, 'bus-node.ts');
    const node = keep(await startCreel(name, environment, program));
    if (given['BENCH_BUS'] !== 'none') keep(await startCreel('its second node', environment, program));
    return node;
  };
  try {
    const nats = keep(await startNatsWithLog());
    const withoutBus = await startNode(WITHOUT_BUS, { BENCH_BUS: 'none' });
    const control = await startNode('the same again', { BENCH_BUS: 'none' });
    const withNotify = await startNode('node, PostgreSQL, NOTIFY');
    const withNats = {
      ...(await startNode('node, PostgreSQL, NATS', { NATS_URL: nats.url })),
      helpers: [nats.pid],
    };
    const [nodeProxy, echoProxy] = [
      keep(await startNginx(withNotify.port, 'keep-alive')),
      keep(await startNginx(echo.port, 'keep-alive')),
    ];
    const captureUrl = withNotify.captureUrl.replace(`:${withNotify.port}/`, `:${nodeProxy.port}/`);
    return {
      scenarios: [
        echoScenario({ ...echo, name: 'the echo, behind nginx', port: echoProxy.port, helpers: [echoProxy.pid] }),
        ...[withoutBus, control, withNotify, withNats].map(captureScenario),
        captureScenario({
          ...withNotify,
          name: 'the one with NOTIFY, behind nginx',
          captureUrl,
          helpers: [nodeProxy.pid],
        }),
      ],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
