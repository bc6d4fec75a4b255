import { createElement, useEffect, useState } from 'react';
import type { ComponentType, FunctionComponent, ReactNode } from 'react';

/** What the parts of the app need of it. */
interface PartOptions {
  readonly isServerReachable: () => Promise<boolean>;
  /** Shown in place of a part whose file could not be loaded. */
  readonly Failed: ComponentType<PartFailure>;
}

/** The props of what replaces a part whose file could not be loaded. */
export interface PartFailure {
  /** The user's retry is in progress. */
  readonly isTrying: boolean;
  readonly onRetry: () => void;
  readonly onServerBack: () => void;
}

let options: PartOptions | undefined;

/** Call once, before the first render. */
export function configureParts(given: PartOptions): void {
  options = given;
}

/** Preloads each part. Never rejects, because the part itself shows the error. */
const all: (() => Promise<void>)[] = [];

/**
 * A component whose code is loaded when it is first rendered; until then `fallback` is. If loading fails, only this
 * part shows an error with a retry button, and is loaded again after an outage. `React.lazy` would keep the failure.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: ReactNode = null,
): FunctionComponent<Props> {
  let loaded: ComponentType<Props> | undefined;
  const ask = async (): Promise<ComponentType<Props>> => (loaded ??= await load());
  function Part(props: Props) {
    const [Shown, setShown] = useState(() => loaded);
    const [state, setState] = useState<'loading' | 'failed' | 'trying'>('loading');
    useEffect(() => {
      if (Shown !== undefined || state === 'failed') return;
      let isUnmounted = false;
      ask().then(
        (Loaded) => (isUnmounted ? undefined : setShown(() => Loaded)),
        async () => {
          // Asked after every failure: if there is an outage, `Failed` waits for its end.
          const isUp = options?.isServerReachable();
          // Browsers cache a failed module, and a newer version of the app has other files.
          if (state === 'trying' && (await isUp)) return location.reload();
          if (!isUnmounted) setState('failed');
        },
      );
      return () => {
        isUnmounted = true;
      };
    }, [Shown, state]);
    if (Shown !== undefined) return createElement(Shown, props);
    if (state === 'loading' || options === undefined) return fallback;
    return createElement(options.Failed, {
      isTrying: state === 'trying',
      onRetry: () => setState('trying'),
      onServerBack: () => setState('loading'),
    });
  }
  all.push(async () => {
    await ask().catch(() => undefined);
  });
  return Part;
}

/** Preloads all known parts one after the other, so that they don't compete with the user's actions. */
export async function preloadParts(): Promise<void> {
  // A loaded part may register further parts. The loop reaches them too.
  for (const preload of all) await preload();
}
