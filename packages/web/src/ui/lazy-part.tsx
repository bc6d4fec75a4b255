import { CloudOff } from 'lucide-react';
import { createElement, useEffect, useState } from 'react';
import type { ComponentType, FunctionComponent, ReactNode } from 'react';
import { Button } from './button.tsx';
import { EmptyState } from './empty-state.tsx';

let isServerUp = (): Promise<boolean> => Promise.resolve(false);

/** Sets how a part whose file could not be loaded finds out whether the server can be reached. */
export function setServerCheck(check: () => Promise<boolean>): void {
  isServerUp = check;
}

/** Loads each part's file ahead of its use. None rejects: whoever shows the part says what went wrong. */
const all: (() => Promise<void>)[] = [];

/**
 * A part of the app that is loaded when it is first shown. Without its file the place of the part alone says so, and the button there
 * asks for the file again; where that is in vain although the server answers, the page is loaded anew, since browsers remember a
 * module that failed and a newer Creel has other files. Not `React.lazy`, which remembers the failure for good.
 * @param fallback stands there until the file has come
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
      let isGone = false;
      ask().then(
        (Loaded) => (isGone ? undefined : setShown(() => Loaded)),
        async () => {
          if (state === 'trying' && (await isServerUp())) return location.reload();
          if (!isGone) setState('failed');
        },
      );
      return () => {
        isGone = true;
      };
    }, [Shown, state]);
    if (Shown !== undefined) return createElement(Shown, props);
    if (state === 'loading') return fallback;
    return <PartFailed trying={state === 'trying'} onRetry={() => setState('trying')} />;
  }
  all.push(async () => {
    await ask().catch(() => undefined);
  });
  return Part;
}

/** Loads every part that is known, one after the other: nothing here may get in the way of what the person does. */
export async function preloadParts(): Promise<void> {
  // Parts that come with others are known once those are there; the loop reaches them too.
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
          <Button held={trying} onClick={onRetry}>
            {trying ? 'Trying…' : 'Try again'}
          </Button>
        }
      >
        The server cannot be reached, or did not send it. Everything else stays usable.
      </EmptyState>
    </div>
  );
}
