import { decompress } from 'brotli/decompress';
import type { BodySource } from './view-body.ts';
import { viewBody } from './view-body.ts';

// Like body-worker.ts, with the decoder that browsers keep to themselves. The decoder has no limit of its own: what unpacks to too
// much is stopped by whoever started this, by time.

addEventListener('message', (message: MessageEvent<BodySource>) => {
  void viewBody(message.data, async (bytes) => new Uint8Array(decompress(bytes))).then((view) =>
    postMessage(view, { transfer: view.json === undefined ? [] : [view.json.cells.buffer] }),
  );
});
