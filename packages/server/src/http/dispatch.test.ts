import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { LoopTurns } from './loop-turns.ts';
import { createDispatch, inspectHead } from './listener.ts';
import type { RequestHandler } from './listener.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function ask(target: string, address = '192.0.2.1', port = 1): Parameters<RequestHandler> {
  const socket = Object.defineProperties(new Socket(), {
    remoteAddress: { value: address },
    remotePort: { value: port },
  });
  const request = new IncomingMessage(socket);
  Object.assign(request, { url: target, method: 'GET', httpVersion: '1.1', rawHeaders: ['Host', 'h'] });
  return [request, new ServerResponse(request), inspectHead(request), false];
}

/** A dispatch on which every call takes a whole turn, and the targets in the order in which they begin. */
function createLongCalls() {
  const begun: string[] = [];
  const begin = (request: IncomingMessage) => begun.push(request.url ?? '');
  const targets = { isCapture: (target: string) => target.startsWith('/h/'), capture: begin, everythingElse: begin };
  let now = 0;
  return { begun, dispatch: createDispatch(targets, new LoopTurns(() => (now += 1))) };
}

test('many parallel calls let every capture pass: a call that takes long has a turn of the event loop alone', async () => {
  const { begun, dispatch } = createLongCalls();
  for (let nth = 0; nth < 200; nth += 1) dispatch(...ask(`/api/${nth}`));
  dispatch(...ask('/h/first'));
  expect(begun).toEqual(['/api/0', '/h/first']);
  await turn();
  dispatch(...ask('/h/second'));
  expect(begun).toEqual(['/api/0', '/h/first', '/api/1', '/h/second']);
  while (begun.length < 202) await turn();
  expect(begun.at(-1)).toBe('/api/199');
});

test('connections of one address share its turns: a call from another address is next', async () => {
  const { begun, dispatch } = createLongCalls();
  for (let nth = 0; nth < 200; nth += 1) dispatch(...ask(`/api/${nth}`));
  dispatch(...ask('/healthz', '192.0.2.2'));
  for (let nth = 0; nth < 2; nth += 1) await turn();
  expect(begun).toEqual(['/api/0', '/api/1', '/healthz']);
});

test('a call whose sender waits for 100 Continue gets it before it starts, and a capture decides itself', () => {
  const steps: string[] = [];
  const dispatch = createDispatch(
    {
      isCapture: (target) => target.startsWith('/h/'),
      capture: (_request, _response, _head, expectsContinue) => steps.push(`capture, waits: ${expectsContinue}`),
      everythingElse: () => steps.push('call'),
    },
    new LoopTurns(),
  );
  for (const target of ['/api/1', '/h/x']) {
    const [request, response, head] = ask(target);
    vi.spyOn(response, 'writeContinue').mockImplementation(() => void steps.push('100'));
    dispatch(request, response, head, true);
  }
  expect(steps).toEqual(['100', 'call', 'capture, waits: true']);
});

test('calls on 5 connections of one address do not wait for a round of the callers at 100 other addresses', async () => {
  const { begun, dispatch } = createLongCalls();
  for (let nth = 0; nth < 300; nth += 1) dispatch(...ask(`/api/${nth}`, `198.51.100.${nth % 100}`));
  while (begun.length < 150) await turn();
  for (let port = 1; port <= 5; port += 1) dispatch(...ask('/healthz', '192.0.2.2', port));
  while (begun.length < 157) await turn();
  expect(begun.filter((target) => target === '/healthz')).toHaveLength(5);
});
