import { expect, test } from 'vitest';
import { Hub } from './hub.ts';
import type { LiveEvent } from './live.ts';

const CLEAR: LiveEvent = { type: 'clear' };

function newHub() {
  const failures: unknown[] = [];
  const hub = new Hub((error) => failures.push(error));
  const heard: string[] = [];
  const listen = (name: string, endpointId: number) =>
    hub.subscribe(endpointId, (event) => heard.push(`${name}:${event.type}`));
  return { hub, failures, heard, listen };
}

test('an event reaches every listener of its endpoint, in order of subscription, and no other', () => {
  const { hub, heard, listen } = newHub();
  listen('a', 1);
  listen('b', 1);
  listen('c', 2);
  hub.publish(1, CLEAR);
  expect(heard).toEqual(['a:clear', 'b:clear']);
});

test('watched means that there is a listener', () => {
  const { hub, listen } = newHub();
  expect(hub.isWatched(1)).toBe(false);
  const [stopA, stopB] = [listen('a', 1), listen('b', 1)];
  stopA();
  expect(hub.isWatched(1)).toBe(true);
  stopB();
  expect(hub.isWatched(1)).toBe(false);
});

test('unsubscribing twice removes no other listener', () => {
  const { hub, heard, listen } = newHub();
  const stop = listen('a', 1);
  stop();
  listen('b', 1);
  stop();
  hub.publish(1, CLEAR);
  expect(heard).toEqual(['b:clear']);
});

test('a listener that throws is reported and removed; the publisher and the others are unaffected', () => {
  const { hub, heard, failures, listen } = newHub();
  const broken = new Error('broken listener');
  hub.subscribe(1, () => {
    throw broken;
  });
  listen('a', 1);
  hub.publish(1, CLEAR);
  hub.publish(1, CLEAR);
  expect(heard).toEqual(['a:clear', 'a:clear']);
  expect(failures).toEqual([broken]);
});

test('an endpoint whose only listener failed leaves nothing behind', () => {
  const { hub } = newHub();
  const stop = hub.subscribe(1, () => {
    throw new Error('broken listener');
  });
  hub.publish(1, CLEAR);
  expect(hub.isWatched(1)).toBe(false);
  stop();
});

test('a listener that leaves during an event does not cost the next one the event', () => {
  const { hub, heard, listen } = newHub();
  const stop = hub.subscribe(1, () => stop());
  listen('b', 1);
  hub.publish(1, CLEAR);
  expect(heard).toEqual(['b:clear']);
});
