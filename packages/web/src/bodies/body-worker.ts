import { viewBody } from './view-body.ts';
import type { BodySource } from './view-body.ts';

// Parses one body off the main thread and returns the view. The caller terminates the worker after a timeout.

addEventListener('message', ({ data }: MessageEvent<BodySource>) => {
  viewBody(data, async () => (await import('./brotli.ts')).unbrotli).then(
    (view) => postMessage(view, { transfer: view.json === undefined ? [] : [view.json.cells.buffer] }),
    reportError,
  );
});
