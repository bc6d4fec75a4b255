import { viewBody } from './view-body.ts';
import type { BodySource } from './view-body.ts';

// Parses one body off the main thread and returns the view. The caller terminates the worker after a timeout, because
// the brotli decoder has no output limit.

addEventListener('message', ({ data }: MessageEvent<BodySource>) => {
  viewBody(data, async () => (await import('brotli/decompress')).decompress).then(
    (view) => postMessage(view, { transfer: view.json === undefined ? [] : [view.json.cells.buffer] }),
    reportError,
  );
});
