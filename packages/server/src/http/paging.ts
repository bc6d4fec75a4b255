import type { FastifyReply, FastifyRequest } from 'fastify';

/** Says where the next page is: the same call, its query changed (RFC 8288). */
export function setNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  changes: Readonly<Record<string, string | number>>,
): void {
  const url = new URL(request.url, 'http://origin.invalid');
  for (const [name, value] of Object.entries(changes)) url.searchParams.set(name, String(value));
  void reply.header('link', `<${url.pathname}${url.search}>; rel="next"`);
}
