import { decompress } from 'brotli/decompress';
import { viewBody } from './view-body.ts';
import type { BodySource } from './view-body.ts';

// Like body-worker.ts, with a brotli decoder, because browsers don't offer theirs to pages. The decoder has no output
// limit; the caller terminates the worker after a timeout.

addEventListener('message', (message: MessageEvent<BodySource>) => {
  void viewBody(message.data, async (bytes) => new Uint8Array(decompress(bytes))).then((view) =>
    postMessage(view, { transfer: view.json === undefined ? [] : [view.json.cells.buffer] }),
  );
});
