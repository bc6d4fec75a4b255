import { afterAll, beforeAll, describe } from 'vitest';
import { startNats } from '../../test/nats-server.ts';
import type { NatsServer } from '../../test/nats-server.ts';
import { describeTwoNodes } from './two-nodes.suite.ts';

describeTwoNodes('through PostgreSQL', {
  settings: () => ({}),
  interrupt: async ({ database }) =>
    void (await database.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'creel bus' and datname = current_database()`,
    )),
});

describe('NATS', () => {
  let nats: NatsServer;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.stop());

  describeTwoNodes('through NATS', {
    settings: () => ({ NATS_URL: nats.url }),
    interrupt: async () => {
      await nats.stop('SIGKILL');
      nats = await startNats({ port: nats.port });
    },
  });
});
