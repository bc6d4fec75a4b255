import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { AppContext } from '../app-context.ts';
import { sendProblem } from './problem-response.ts';

export interface OperationalSources {
  readonly metrics: Registry;
  /** True after the stop signal. */
  readonly isStopping: () => boolean;
  /** Resolves when a capture can be stored now. */
  readonly checkReady: () => Promise<void>;
}

/** `/healthz`: alive. `/readyz`: able to store a capture. `/metrics`: Prometheus text. */
export function registerOperationalRoutes(server: FastifyInstance, app: AppContext, sources: OperationalSources): void {
  server.get('/healthz', async (_request, reply) => reply.header('cache-control', 'no-store').send({ ok: true }));
  server.get('/readyz', async (_request, reply) => {
    if (sources.isStopping())
      return sendProblem(reply, 'UNAVAILABLE', { sentence: 'The server is stopping.', retryAfter: 5 });
    try {
      await sources.checkReady();
    } catch (error) {
      app.log.error({ err: error }, 'storage does not take a write');
      return sendProblem(reply, 'CAPTURE_UNAVAILABLE', {
        sentence: 'Storage does not take a write at the moment.',
        retryAfter: 5,
      });
    }
    return reply.header('cache-control', 'no-store').send({ ok: true });
  });
  // Only a handshake becomes a live connection, and this request isn't one. RFC 9110 15.5.22 requires the header.
  server.get('/ws', (_request, reply) => sendProblem(reply.header('upgrade', 'websocket'), 'UPGRADE_REQUIRED'));
  server.get('/metrics', async (_request, reply) =>
    reply.type(sources.metrics.contentType).send(await sources.metrics.metrics()),
  );
}
