import { codingsOf } from './decode-body.ts';
import { isCoded, viewBody } from './view-body.ts';
import type { BodySource, BodyView } from './view-body.ts';

/** Larger bodies are formatted in a worker. */
const MAX_MAIN_THREAD_BYTES = 128 * 1024;

/** Milliseconds after which a body is given up: one that unpacks to gigabytes must not fill the memory. */
const GIVE_UP_MS = 8000;

/** Looks at a body in a thread of its own, so that the page goes on. Rejects when it takes too long. */
function viewInWorker(source: BodySource): Promise<BodyView> {
  const worker = codingsOf(source.contentEncoding).includes('br')
    ? new Worker(new URL('./brotli-worker.ts', import.meta.url), { type: 'module' })
    : new Worker(new URL('./body-worker.ts', import.meta.url), { type: 'module' });
  return new Promise<BodyView>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('This body takes too long to be shown. Download it instead.')),
      GIVE_UP_MS,
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

/** Lays a body out; what is heavy or coded is looked at in a worker. */
export function viewBodyAsync(source: BodySource): Promise<BodyView> {
  const light = source.bytes.length <= MAX_MAIN_THREAD_BYTES && !isCoded(source);
  return light ? viewBody(source, () => Promise.reject(new Error('not coded'))) : viewInWorker(source);
}
