import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppContext } from '../app-context.ts';
import { explainMissing } from './api-server.ts';
import { newNonce, pagePolicy } from './security-headers.ts';
import { ProblemError } from './problem.ts';
import { registerWebFiles } from './web-files.ts';

const PAGE_FILE = 'index.html';
const NOT_BUILT = 'The web app is not built. Run npm run build.';

/** The build's placeholder for the policy's nonce (vite.config.ts). */
const NONCE_PLACE = '__CSP_NONCE__';

/** Serves the web app in the folder `root`: its files, and its page for every other path that a browser opens. */
export async function registerPages(server: FastifyInstance, app: AppContext, root: string): Promise<void> {
  const page = await readFile(join(root, PAGE_FILE), 'utf8').catch(() => undefined);
  if (page !== undefined) await registerWebFiles(server, root, PAGE_FILE);
  // Before the body is read, because on an unknown path its type and size don't matter.
  server.addHook('onRequest', async (request) => {
    if (request.is404 && (isApi(request) || !isPageView(request))) throw explainMissing(request);
  });
  server.get(`/${PAGE_FILE}`, (_request, reply) => reply.redirect('/', 302));
  server.setNotFoundHandler((_request, reply) => sendPage(reply, app, page));
}

function isApi(request: FastifyRequest): boolean {
  return request.url === '/api' || request.url.startsWith('/api/') || request.url.startsWith('/api?');
}

/** A path with a dot in its last segment names a file, and there is none. */
function isPageView(request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? '';
  return (
    (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/assets/') && !/\.\w+$/.test(path)
  );
}

function sendPage(reply: FastifyReply, app: AppContext, page: string | undefined): FastifyReply {
  if (page === undefined) throw new ProblemError('NOT_FOUND', { sentence: NOT_BUILT });
  const nonce = newNonce();
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', pagePolicy(app, nonce))
    .send(page.replaceAll(NONCE_PLACE, nonce));
}
