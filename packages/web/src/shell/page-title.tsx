import { useState, useSyncExternalStore } from 'react';
import { useLiveStatus } from '../api/live-cache.ts';
import { useTitle } from '../ui/page.tsx';

/** The title of an endpoint's page, with the number of requests that arrived while the tab was hidden: '(3) Orders'. */
export function EndpointPageTitle({ uid, title }: { readonly uid: string; readonly title: string }) {
  const { received } = useLiveStatus(uid);
  const hidden = useSyncExternalStore(onVisibility, () => document.hidden);
  const [seen, setSeen] = useState(received);
  if (!hidden && seen !== received) setSeen(received);
  const unseen = hidden ? received - seen : 0;
  useTitle(unseen > 0 ? `(${unseen}) ${title}` : title);
  return null;
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
