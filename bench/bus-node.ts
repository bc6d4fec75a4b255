// A node that can run without its bus, which shows what the bus costs: `BENCH_BUS=none`.
import process from 'node:process';
import { openStore, startServer } from '../packages/server/src/app.ts';
import { localBus } from '../packages/server/src/bus/bus.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { createLog } from '../packages/server/src/log.ts';

const config = readConfig(process.env);
const store = await openStore(config);
const log = createLog(config.logLevel, false, process.stdout);
const bus = process.env['BENCH_BUS'] === 'none' ? localBus : undefined;
const server = await startServer({ config, store, log, bus });
process.on('SIGTERM', () => {
  void server.stop().then(() => process.exit(0));
});
