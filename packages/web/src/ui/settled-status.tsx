import { useEffect, useState } from 'react';

/** Milliseconds without a change before a text is announced. */
const SETTLED_MS = 1500;

/** Announces a text that changes quickly, such as a progress, after it has settled. The visible text is `aria-hidden`. */
export function SettledStatus({ text }: { readonly text: string }) {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span role="status" className="sr-only">
      {settled}
    </span>
  );
}
