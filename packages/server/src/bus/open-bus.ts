import { randomBytes } from 'node:crypto';
import { localBus } from './bus.ts';
import type { Bus } from './bus.ts';
import { NatsChannel } from './nats.ts';
import type { NatsLink } from './nats.ts';
import { NodeBus } from './node-bus.ts';
import { PostgresChannel } from './postgres-channel.ts';

interface BusOptions {
  /** `undefined`: SQLite, which one node has for itself. */
  readonly databaseUrl: string | undefined;
  /** `undefined`: notices go through PostgreSQL. */
  readonly nats: NatsLink | undefined;
  /** Returns the secret of this name from the database. If there is none, it stores `candidate`. */
  readonly store: { findOrCreateSecret(name: string, candidate: string): Promise<string> };
}

/** The name of this installation, because others may use the same NATS cluster. It is stored in the database. */
export function installationOf(store: BusOptions['store']): Promise<string> {
  return store.findOrCreateSecret('installation', randomBytes(8).toString('hex'));
}

/** Opens the bus, and waits up to two seconds until it works and knows the other nodes. */
export async function openBus({ databaseUrl, nats, store }: BusOptions): Promise<Bus> {
  if (databaseUrl === undefined) return localBus;
  const installation = await installationOf(store);
  const bus = new NodeBus((events) =>
    nats === undefined ? new PostgresChannel(databaseUrl, events) : new NatsChannel(nats, installation, events),
  );
  await bus.started();
  return bus;
}
