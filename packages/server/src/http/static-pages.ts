import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppContext } from '../app-context.ts';
import { explainMissing } from './api-server.ts';
import { newNonce, pagePolicy } from './security-headers.ts';
import { ProblemError } from './problem.ts';

const PAGE_FILE = 'index.html';
const NOT_BUILT = 'The web app is not built. Run npm run build.';

/** What the build writes wherever the policy's nonce belongs (vite.config.ts). */
const NONCE_PLACE = '__CSP_NONCE__';

/** The web app in the folder `root`: its files as they are, and its page for every other address that a browser may open. */
export async function registerPages(server: FastifyInstance, app: AppContext, root: string): Promise<void> {
  if (existsSync(root)) {
    await server.register(fastifyStatic, {
      root,
      wildcard: false,
      index: false,
      // The page goes out with a nonce and its own policy, by sendPage alone; never as the build left it.
      globIgnore: [`${PAGE_FILE}*`],
      cacheControl: false,
      // The build puts .br and .gz beside the text files (scripts/precompress.ts).
      preCompressed: true,
      setHeaders: (reply, path) => {
        // Vite names these files by their content.
        reply.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  }
  // Before a body is read: whether it is JSON, or too large, does not matter where there is nothing (contract 1).
  server.addHook('onRequest', async (request) => {
    if (request.is404 && (isApi(request) || !isPageView(request))) throw explainMissing(request);
  });
  server.get(`/${PAGE_FILE}`, (_request, reply) => reply.redirect('/', 302));
  server.setNotFoundHandler(async (_request, reply) => sendPage(reply, app, root));
}

function isApi(request: FastifyRequest): boolean {
  return request.url === '/api' || request.url.startsWith('/api/') || request.url.startsWith('/api?');
}

/** A path with a dot in its last part asks for a file, and there is none. */
function isPageView(request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? '';
  return (
    (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/assets/') && !/\.\w+$/.test(path)
  );
}

async function sendPage(reply: FastifyReply, app: AppContext, root: string): Promise<FastifyReply> {
  const page = await readFile(join(root, PAGE_FILE), 'utf8').catch(() => undefined);
  if (page === undefined) throw new ProblemError('NOT_FOUND', { sentence: NOT_BUILT });
  const nonce = newNonce();
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', pagePolicy(app, nonce))
    .send(page.replaceAll(NONCE_PLACE, nonce));
}
