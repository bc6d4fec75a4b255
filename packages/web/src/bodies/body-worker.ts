import { viewBody } from './view-body.ts';
import type { BodySource } from './view-body.ts';

// Parses one body off the main thread and returns the view. The caller terminates the worker.

addEventListener('message', (message: MessageEvent<BodySource>) => {
  void viewBody(message.data, () => Promise.reject(new Error('brotli has a worker of its own'))).then((view) =>
    postMessage(view, { transfer: view.json === undefined ? [] : [view.json.cells.buffer] }),
  );
});
