import { useEffect, useState } from 'react';
import { useLiveStatus } from '../../../api/live-cache.ts';
import { formatCount } from '../../../ui/format.ts';
import { useLatest } from '../../../ui/state.ts';

/** Milliseconds between two announcements, so that a stream does not interrupt a screen reader all the time. */
const ANNOUNCE_MS = 4000;

/** Announces to screen readers how many requests have arrived. */
export function Arrivals({ uid }: { readonly uid: string }) {
  const { received } = useLiveStatus(uid);
  const latest = useLatest(received);
  const [text, setText] = useState('');
  useEffect(() => {
    let announced = latest.current;
    const timer = setInterval(() => {
      const count = latest.current - announced;
      announced = latest.current;
      if (count > 0) setText(`${formatCount(count)} new ${count === 1 ? 'request' : 'requests'}`);
      else setText('');
    }, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, [latest]);
  return (
    <p role="status" className="sr-only">
      {text}
    </p>
  );
}
