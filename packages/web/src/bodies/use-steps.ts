import { useState } from 'react';

/** Steps through `count` matches, cyclically. Starts over when the searched text changes. */
export function useSteps(count: number, about: string): readonly [number, (step: 1 | -1) => number] {
  const [state, setState] = useState({ about, at: 0 });
  const at = state.about === about && state.at < count ? state.at : 0;
  const step = (by: 1 | -1): number => {
    const next = count === 0 ? 0 : (at + by + count) % count;
    setState({ about, at: next });
    return next;
  };
  return [at, step];
}
