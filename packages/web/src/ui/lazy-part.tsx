import { CloudOff } from 'lucide-react';
import { createElement, useEffect, useState } from 'react';
import type { ComponentType, FunctionComponent, ReactNode } from 'react';
import { Button } from './button.tsx';
import { EmptyState } from './feedback.tsx';

let isServerUp = (): Promise<boolean> => Promise.resolve(false);

/** Sets how a part whose file could not be loaded finds out whether the server can be reached. */
export function setServerCheck(check: () => Promise<boolean>): void {
  isServerUp = check;
}

/** Preloads each part. Never rejects, because the part itself shows the error. */
const all: (() => Promise<void>)[] = [];

/** Milliseconds between two checks whether the server can be reached again. */
const CHECK_INTERVAL_MS = 3000;

/** Calls back when a server that can't be reached is back. Checks only once if it can be reached. */
function afterOutage(onBack: () => void): () => void {
  let isDown = false;
  const check = async (): Promise<void> => {
    const isUp = await isServerUp();
    if (isUp) clearInterval(timer);
    if (isUp && isDown) onBack();
    isDown = !isUp;
  };
  const timer = setInterval(() => void check(), CHECK_INTERVAL_MS);
  void check();
  return () => {
    isDown = false;
    clearInterval(timer);
  };
}

/**
 * A component whose code is loaded when it is first rendered; until then `fallback` is. If loading fails, only this
 * part shows an error with a retry button, and is loaded again after an outage. If the user's retry fails too while the
 * server can be reached, the page reloads, because browsers cache a failed module and a newer version has other files.
 * `React.lazy` would keep the failure.
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
          if (state === 'trying' && (await isServerUp())) return location.reload();
          if (!isUnmounted) setState('failed');
        },
      );
      return () => {
        isUnmounted = true;
      };
    }, [Shown, state]);
    useEffect(() => (state === 'failed' ? afterOutage(() => setState('loading')) : undefined), [state]);
    if (Shown !== undefined) return createElement(Shown, props);
    if (state === 'loading') return fallback;
    return <PartFailed trying={state === 'trying'} onRetry={() => setState('trying')} />;
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

function PartFailed({ trying, onRetry }: { readonly trying: boolean; readonly onRetry: () => void }) {
  return (
    <div className="grid min-h-0 grow place-items-center">
      <EmptyState
        error
        icon={<CloudOff />}
        title="This part could not be loaded"
        actions={
          <Button busy={trying} onClick={onRetry}>
            {trying ? 'Trying…' : 'Try again'}
          </Button>
        }
      >
        The server can't be reached or did not send it. The rest of the page still works.
      </EmptyState>
    </div>
  );
}
