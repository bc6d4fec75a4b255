import { parentPort, workerData } from 'node:worker_threads';
import { StorageUnavailable } from '../storage-problem.ts';
import type { FromThread, ScanThreadData, ToThread } from '../thread-messages.ts';
import { answered } from './faults.ts';
import { openDatabase, runRead } from './run-query.ts';

/**
 * Searches on PostgreSQL run in their own thread: matching a large body takes long, and the main thread must keep
 * accepting captures.
 */
const port = parentPort;
if (port === null) throw new Error('scan-thread.ts runs as a worker thread.');
// Only storage-thread.ts of the same build starts this thread.
const { url, sessions } = workerData as ScanThreadData;
const db = openDatabase(url, sessions);

function post(message: FromThread): void {
  port?.postMessage(message);
}

async function handle(message: ToThread): Promise<void> {
  try {
    if (message.kind === 'captures') throw new Error('A scanner was asked to write.');
    if (message.kind === 'close') {
      await db.destroy();
      post({ kind: 'result', id: message.id, value: undefined });
      return port?.close();
    }
    post({ kind: 'result', id: message.id, value: await answered(runRead(db, message.name, message.args)) });
  } catch (error) {
    post({
      kind: 'failure',
      id: message.id,
      message: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
      unavailable: error instanceof StorageUnavailable ? error.reason : undefined,
    });
  }
}

// Concurrent: the pool limits the number of running statements.
port.on('message', (message: ToThread) => void handle(message));
post({ kind: 'ready' });
