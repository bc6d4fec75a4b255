import type { FastifyReply, FastifyRequest } from 'fastify';

const MAX_AGE_S = 90 * 24 * 3600;

/** `__Host-` binds a cookie to https, this host and the root path; plain http can't have it. */
function cookieName(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-creel_session' : 'creel_session';
}

/** The session's token, if the browser sent one. */
export function readSessionCookie(request: Pick<FastifyRequest, 'cookies'>, publicUrl: string): string | undefined {
  return request.cookies[cookieName(publicUrl)];
}

export function setSessionCookie(reply: FastifyReply, publicUrl: string, token: string): void {
  void reply.setCookie(cookieName(publicUrl), token, { ...attributes(publicUrl), maxAge: MAX_AGE_S });
}

export function clearSessionCookie(reply: FastifyReply, publicUrl: string): void {
  void reply.clearCookie(cookieName(publicUrl), attributes(publicUrl));
}

function attributes(publicUrl: string) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: publicUrl.startsWith('https:') } as const;
}
