import { argon2Sync } from 'node:crypto';
import type { Argon2Parameters } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { letOthersGoFirst } from './thread-priority.ts';

/** A thread that hashes passwords, one after the other, behind everything else that the machine has to do. */
const port = parentPort;
if (port === null) throw new Error('hash-thread.ts runs as a worker thread.');
letOthersGoFirst();
// The one who posts is hash-threads.ts, from the same build.
port.on('message', (parameters: Argon2Parameters) => port.postMessage(argon2Sync('argon2id', parameters)));
