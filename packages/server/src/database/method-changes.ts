import type { MethodCount } from './store.ts';
import type { UnpackedCapture } from './packed-captures.ts';

/** Added minus trimmed captures, by method; omits methods with no change. */
export function methodChanges(added: readonly UnpackedCapture[], trimmed: readonly MethodCount[]): MethodCount[] {
  const changes = new Map<string, { method: string; stored: number; bytes: number }>();
  const add = (method: string, stored: number, bytes: number): void => {
    const change = changes.get(method);
    if (change === undefined) changes.set(method, { method, stored, bytes });
    else {
      change.stored += stored;
      change.bytes += bytes;
    }
  };
  for (const capture of added) add(capture.method, 1, capture.body?.length ?? 0);
  for (const { method, stored, bytes } of trimmed) add(method, -stored, -bytes);
  return [...changes.values()].filter((change) => change.stored !== 0 || change.bytes !== 0);
}
