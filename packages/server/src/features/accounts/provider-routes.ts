import { PROVIDER_CHANNEL } from '@creel/contract';
import type { ProviderMessage } from '@creel/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CALLBACK_PATH, ProviderProblem } from './provider.ts';
import type { Provider, ProviderFailure } from './provider.ts';
import { START_PATH } from './service.ts';
import { NO_EMAIL } from './provider-login.ts';
import type { AppContext } from '../../app-context.ts';
import { ProblemError } from '../../http/problem.ts';
import { isCrossOrigin } from '../../http/same-origin.ts';
import { sendHtml } from '../../http/security-headers.ts';
import { tokenHash } from '../../secrets.ts';
import {
  MAX_FLOWS,
  PROVEN_IDENTITY,
  PENDING_LOGIN,
  clearCookie,
  cookiesOfFlows,
  ofFlow,
  readCookie,
  setCookie,
} from '../../http/cookies.ts';
import { escapeHtml } from '../mail/service.ts';

/** Messages for the user, by the codes that the page knows (docs/api.md, "Third-party login"). */
const FAILURES: Readonly<
  Record<ProviderFailure | 'cross-site', { problem: string; message: (name: string) => string }>
> = {
  denied: { problem: 'popup-closed-by-user', message: (name) => `The login was canceled at ${name}.` },
  unreachable: {
    problem: 'network-request-failed',
    message: (name) => `${name} could not be reached. Please check your connection and try again.`,
  },
  'login-lost': {
    problem: 'failed',
    message: () => 'This login took too long, or was begun in another window. Please try again.',
  },
  refused: { problem: 'failed', message: (name) => `${name} did not confirm who you are. Please try again.` },
  'cross-site': { problem: 'unauthorized-domain', message: () => 'A login can only be started from Creel itself.' },
};

/** The two URLs of the provider's window and its script. Registered only if a provider is configured. */
export function registerProviderRoutes(server: FastifyInstance, app: AppContext): void {
  const { provider } = app.accounts;
  if (provider === undefined) return;
  // A HEAD would start a login, or use up its code without showing the result.
  const readOnly = { exposeHeadRoute: false };
  server.get(START_PATH, readOnly, (_request, reply) => start(app, provider, reply));
  server.get(CALLBACK_PATH, readOnly, (_request, reply) => callback(app, provider, reply));
  server.get(CALLBACK_SCRIPT_PATH, (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(CALLBACK_SCRIPT),
  );
}

async function start(app: AppContext, provider: Provider, reply: FastifyReply) {
  if (isCrossOrigin(reply.request.headers, app.publicUrl()))
    return sendMessage(app, reply, failureMessage(app, 'cross-site'), 403);
  try {
    const { url, state, pending } = await provider.begin(pageOf(reply.request));
    setFlowCookie(app, reply, { cookie: PENDING_LOGIN, flow: flowOf(state), value: pending });
    return keepOpener(reply).header('cache-control', 'no-store').redirect(url, 302);
  } catch (error) {
    return sendMessage(app, reply, messageOf(app, error), 502);
  }
}

async function callback(app: AppContext, provider: Provider, reply: FastifyReply) {
  const { request } = reply;
  const publicUrl = app.publicUrl();
  const { searchParams } = new URL(request.url, publicUrl);
  const flow = flowOf(searchParams.get('state') ?? '');
  const cookie = ofFlow(PENDING_LOGIN, flow);
  const pending = provider.open(readCookie(request, cookie, publicUrl));
  clearCookie(reply, cookie, publicUrl);
  const send = (message: ProviderMessage, status: number): FastifyReply =>
    sendMessage(app, reply, { ...message, flow: pending?.page }, status);
  try {
    const limit = app.accounts.throttle.of('providerAnswer', app.clientAddressOf(request.raw));
    // Without a pending login of this browser the provider isn't asked, and the request doesn't count: any site can
    // trigger it.
    if (pending !== undefined) await limit.consume();
    const proven = await provider.finish(request.url.slice(request.url.indexOf('?')), pending);
    if (proven.email === null) return send(refusalMessage(NO_EMAIL), 200);
    await limit.refund();
    const value = await app.accounts.providerLogin.storeProven(proven);
    setFlowCookie(app, reply, { cookie: PROVEN_IDENTITY, flow, value });
    const { email, displayName, subject } = proven;
    return send({ type: PROVIDER_CHANNEL, identity: { email, displayName, uid: subject } }, 200);
  } catch (error) {
    if (error instanceof ProblemError) {
      const { retryAfter } = error.refusal;
      if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
      return send(refusalMessage(error.message), 429);
    }
    return send(messageOf(app, error), 400);
  }
}

/** The part of a cookie's name that belongs to one login. */
function flowOf(state: string): string {
  return tokenHash(state).slice(0, 16);
}

/** The name that the opening page gave this login; `undefined` without one. */
function pageOf(request: FastifyRequest): string | undefined {
  const { searchParams } = new URL(request.url, 'http://creel.invalid');
  return /^\w{1,40}$/.exec(searchParams.get('flow') ?? '')?.[0];
}

interface FlowCookie {
  readonly cookie: typeof PENDING_LOGIN;
  readonly flow: string;
  readonly value: string;
}

/** Sets a cookie of one login, and clears those of the oldest ones beyond the maximum. */
function setFlowCookie(app: AppContext, reply: FastifyReply, { cookie, flow, value }: FlowCookie): void {
  const publicUrl = app.publicUrl();
  for (const oldest of cookiesOfFlows(reply.request, cookie, publicUrl).slice(0, 1 - MAX_FLOWS))
    clearCookie(reply, oldest, publicUrl);
  setCookie(reply, ofFlow(cookie, flow), publicUrl, value);
}

function refusalMessage(message: string): ProviderMessage {
  return { type: PROVIDER_CHANNEL, problem: 'failed', message };
}

function messageOf(app: AppContext, error: unknown): ProviderMessage {
  if (!(error instanceof ProviderProblem)) throw error;
  app.log.warn({ failure: error.failure, reason: error.message }, 'a third-party login failed');
  return failureMessage(app, error.failure);
}

function failureMessage(app: AppContext, why: keyof typeof FAILURES): ProviderMessage {
  const { problem, message } = FAILURES[why];
  return { type: PROVIDER_CHANNEL, problem, message: message(app.config.oidc?.name ?? 'The provider') };
}

function sendMessage(app: AppContext, reply: FastifyReply, message: ProviderMessage, status: number): FastifyReply {
  return sendHtml(keepOpener(reply).code(status), app, (nonce) => callbackPage(message, nonce));
}

/** Keeps this window connected to its opener, which waits for a message or the end of the window. A stricter policy would cut it off. */
function keepOpener(reply: FastifyReply): FastifyReply {
  return reply.header('cross-origin-opener-policy', 'unsafe-none');
}

const CALLBACK_SCRIPT_PATH = `${CALLBACK_PATH}.js`;

/** The last page of the provider's window. Its message is an attribute, because inline scripts are not allowed. */
function callbackPage(message: ProviderMessage, nonce: string): string {
  const text = message.message ?? 'You are logged in. This window closes by itself.';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Login</title>
<script src="${CALLBACK_SCRIPT_PATH}" nonce="${nonce}" defer></script>
</head>
<body data-message="${escapeHtml(JSON.stringify(message))}">
<p>${escapeHtml(text)}</p>
<p><a href="/auth">Back to Creel</a></p>
</body>
</html>
`;
}

/**
 * Sends the message to the opener and closes the window. Also uses a channel, because the provider's pages may cut the
 * window from its opener. Both reach our own origin only. The URL is removed from the history although its code is
 * already used.
 */
const CALLBACK_SCRIPT = `'use strict';
{
  const message = JSON.parse(document.body.dataset.message);
  history.replaceState(null, '', '${CALLBACK_PATH}');
  if (window.opener) window.opener.postMessage(message, location.origin);
  const channel = new BroadcastChannel('${PROVIDER_CHANNEL}');
  channel.postMessage(message);
  channel.close();
  setTimeout(() => window.close(), message.identity ? 0 : 3000);
}
`;
