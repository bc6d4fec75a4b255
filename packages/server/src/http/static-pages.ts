import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OPERATIONS } from '@creel/contract';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { AppContext } from '../app-context.ts';
import { sendHtml } from './security-headers.ts';
import { ProblemError } from './problem.ts';

const PAGE_FILE = 'index.html';
const NOT_BUILT = 'The web app is not built. Run npm run build.';

/** The build's placeholder for the policy's nonce (vite.config.ts). */
const NONCE_PLACE = '__CSP_NONCE__';

/** Serves the web app in the folder `root`: its files, and its page for every other path that a browser opens. */
export async function registerPages(server: FastifyInstance, app: AppContext, root: string): Promise<void> {
  const page = await readFile(join(root, PAGE_FILE), 'utf8').catch(() => undefined);
  if (page !== undefined) await registerWebFiles(server, root);
  // Before the body is read, because on an unknown path its type and size don't matter.
  server.addHook('onRequest', async (request) => {
    if (request.is404 && (/^\/api(?:[/?]|$)/.test(request.url) || !isPageView(request))) throw explainMissing(request);
  });
  server.get(`/${PAGE_FILE}`, (_request, reply) => reply.redirect('/', 302));
  server.setNotFoundHandler((_request, reply) => sendPage(reply, app, page));
}

/** Why a target has no route: another method, or an unknown path. */
function explainMissing(request: FastifyRequest): ProblemError {
  const path = request.url.split(/[?#]/, 1)[0] ?? '';
  const operations = Object.values(OPERATIONS).filter((operation) =>
    new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const methods: string[] = operations.map(({ method }) => method);
  if (methods.includes('GET')) methods.push('HEAD');
  if (methods.length > 0) return new ProblemError('METHOD_NOT_ALLOWED', { allow: methods });
  // Everything outside the API, such as /healthz or a file of the web app, is read-only. None of these paths has `:` or
  // `*`, and `hasRoute` would read them as the syntax of a route and can throw.
  if (!/[:*]/.test(path) && request.server.hasRoute({ method: 'GET', url: path }))
    return new ProblemError('METHOD_NOT_ALLOWED', { allow: ['GET', 'HEAD'] });
  return new ProblemError('NOT_FOUND');
}

/** A capture URL with a wrong prefix, such as `//h/…`. The page and its 200 would tell the sender that it is captured. */
const MISTYPED_CAPTURE = /^\/+(?:\.\/+)*h(?:\/|$)/i;

/** A path with a dot in its last segment names a file, and there is none. A person who opens it sees the page that says so. */
function isPageView({ method, url, headers }: FastifyRequest): boolean {
  const path = url.split('?', 1)[0] ?? '';
  const isForPrograms = path.startsWith('/assets/') || /\.\w+$/.test(path) || MISTYPED_CAPTURE.test(path);
  return (method === 'GET' || method === 'HEAD') && (!isForPrograms || headers.accept?.includes('text/html') === true);
}

function sendPage(reply: FastifyReply, app: AppContext, page: string | undefined): FastifyReply {
  if (page === undefined) throw new ProblemError('NOT_FOUND', { sentence: NOT_BUILT });
  return sendHtml(reply, app, (nonce) => page.replaceAll(NONCE_PLACE, nonce));
}

/** The types of the files that the build writes. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** The codings for which the build adds files (scripts/precompress.ts), smallest result first. */
const CODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

interface Representation {
  readonly bytes: Buffer;
  /** Undefined for the bytes as they are. */
  readonly coding: string | undefined;
  readonly etag: string;
}

/**
 * Serves the files of `root` from memory: 2 MB. A call takes 0.1 ms and no further memory, even if the client does not
 * read. A new build does not change the files of a running server.
 */
export async function registerWebFiles(server: FastifyInstance, root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(`/${relative(root, path).split(sep).join('/')}`, await readFile(path));
  }
  for (const [path, bytes] of files) {
    const isCoded = CODINGS.some(({ suffix }) => path.endsWith(suffix) && files.has(path.slice(0, -suffix.length)));
    if (isCoded || path.startsWith(`/${PAGE_FILE}`)) continue;
    const coded = CODINGS.flatMap(({ name, suffix }) => {
      const own = files.get(path + suffix);
      return own === undefined ? [] : [representation(own, name)];
    });
    serveFile(server, path, representation(bytes, undefined), coded);
  }
}

function representation(bytes: Buffer, coding: string | undefined): Representation {
  return { bytes, coding, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** `coded`: preferred ones first. */
function serveFile(
  server: FastifyInstance,
  path: string,
  plain: Representation,
  coded: readonly Representation[],
): void {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  // Vite names these files by their content.
  const cacheControl = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  server.get(path, (request, reply): FastifyReply => {
    const chosen = coded.find(({ coding }) => accepts(request, coding)) ?? plain;
    reply.header('cache-control', cacheControl).header('etag', chosen.etag);
    if (coded.length > 0) reply.header('vary', 'accept-encoding');
    const known = request.headers['if-none-match']?.split(',').map((each) => each.trim().replace(/^W\//, ''));
    if (known?.some((each) => each === chosen.etag || each === '*')) return reply.code(304).send();
    if (chosen.coding !== undefined) reply.header('content-encoding', chosen.coding);
    return reply.type(type).send(chosen.bytes);
  });
}

/** The client lists the coding, and not with a weight of 0 (RFC 9110 12.5.3). */
function accepts(request: FastifyRequest, coding: string | undefined): boolean {
  const accepted = request.headers['accept-encoding'];
  const listed = (Array.isArray(accepted) ? accepted.join() : (accepted ?? '')).toLowerCase().split(',');
  return listed.some((each) => {
    const [name = '', weight = ''] = each.split(';', 2);
    return name.trim() === coding && !/^\s*q=0(?:\.0*)?\s*$/.test(weight);
  });
}
