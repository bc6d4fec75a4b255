import { isCoded, viewPlain } from './view-body.ts';
import type { BodySource, BodyView } from './view-body.ts';

/** Larger bodies are parsed in a worker. */
const MAX_MAIN_THREAD_BYTES = 128 * 1024;

/** Milliseconds after which a worker is terminated. */
const WORKER_TIMEOUT_MS = 8000;

/** Parses a body in a worker. Rejects after a timeout. */
function viewInWorker(source: BodySource): Promise<BodyView> {
  const worker = new Worker(new URL('./body-worker.ts', import.meta.url), { type: 'module' });
  return new Promise<BodyView>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('Showing this body takes too long. Download it instead.')),
      WORKER_TIMEOUT_MS,
    );
    worker.onmessage = (message: MessageEvent<BodyView>) => {
      clearTimeout(timer);
      resolve(message.data);
    };
    worker.onerror = () => {
      clearTimeout(timer);
      reject(new Error('This body could not be shown. Download it instead.'));
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    worker.postMessage(source);
  }).finally(() => worker.terminate());
}

/** Parses a body; in a worker if it is large or encoded. */
export async function viewBodyAsync(source: BodySource): Promise<BodyView> {
  const light = source.bytes.length <= MAX_MAIN_THREAD_BYTES && !isCoded(source);
  return light ? viewPlain(source) : viewInWorker(source);
}
