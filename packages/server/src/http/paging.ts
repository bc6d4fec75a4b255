import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sets the link to the next page: the same call with a changed query (RFC 8288). */
export function setNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  changes: Readonly<Record<string, string | number>>,
): void {
  const url = new URL(request.url, 'http://origin.invalid');
  for (const [name, value] of Object.entries(changes)) url.searchParams.set(name, String(value));
  void reply.header('link', `<${url.pathname}${url.search}>; rel="next"`);
}
