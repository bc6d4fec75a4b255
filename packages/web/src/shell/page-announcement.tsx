import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { pageTitle } from '../ui/page.tsx';
import { useSignal } from '../ui/state.ts';

/** Milliseconds that a page has for its final title. */
const SETTLED_MS = 500;
/** Milliseconds until the announced title is removed, because a search in the page would find it twice. */
const SHOWN_MS = 1000;

/** Announces the title of a page that is opened within the app. Of the first page, the browser announces it. */
export function PageAnnouncement() {
  const title = useSignal(pageTitle);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const [firstPath] = useState(path);
  const [hasMoved, setMoved] = useState(false);
  if (path !== firstPath && !hasMoved) setMoved(true);
  const [text, setText] = useState('');
  useEffect(() => {
    if (!hasMoved) return;
    const timers = [setTimeout(() => setText(title), SETTLED_MS), setTimeout(() => setText(''), SETTLED_MS + SHOWN_MS)];
    return () => timers.forEach(clearTimeout);
  }, [title, hasMoved]);
  return (
    <p role="status" className="sr-only">
      {text}
    </p>
  );
}
