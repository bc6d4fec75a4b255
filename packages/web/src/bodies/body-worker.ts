import type { BodySource } from './view-body.ts';
import { viewBody } from './view-body.ts';

// Looks at one body, off the main thread, and hands back what there is to show. Ended by whoever started it.

addEventListener('message', (message: MessageEvent<BodySource>) => {
  void viewBody(message.data, () => Promise.reject(new Error('brotli has a worker of its own'))).then((view) =>
    postMessage(view, { transfer: view.json === undefined ? [] : [view.json.cells.buffer] }),
  );
});
