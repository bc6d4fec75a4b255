import { Link, useLocation } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';

/** Shown if the session has ended. */
export function AuthenticationRequired() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <div role="alert" className="mx-4 mb-2.5 flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-2">
      <Lock aria-hidden className="size-4 shrink-0 text-warn" />
      <div className="min-w-0 grow">
        <h3 className="font-medium">Authentication Required</h3>
        <p className="text-ink-2">The Save Request feature requires authentication.</p>
      </div>
      <Button asChild size="sm">
        <Link to="/auth" search={{ next }}>
          Sign In
        </Link>
      </Button>
    </div>
  );
}
