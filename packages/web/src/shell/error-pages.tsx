import { useRouter, Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import type { ReactNode } from 'react';
import { errorMessage } from '../api/client.ts';
import { useServerBack } from '../api/outage.ts';
import { userQuery } from '../api/queries.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState, LoadError } from '../ui/feedback.tsx';
import type { PartFailure } from '../ui/lazy-part.tsx';
import { useTitle } from '../ui/page.tsx';

/** Shown if the user or a part of the app could not be loaded. Loads it again when the server is back. */
export function LoadFailed({ error }: { readonly error: unknown }) {
  const router = useRouter();
  const again = async (): Promise<void> => {
    await queryClient.resetQueries({ predicate: (query) => query.state.status === 'error' });
    await router.invalidate();
  };
  useServerBack(() => void again());
  const isUser = queryClient.getQueryState(userQuery.queryKey)?.status === 'error';
  return (
    <LoadError
      page
      title={isUser ? 'Failed to fetch user data.' : 'This page could not be shown'}
      onRetry={() => void again()}
    >
      {errorMessage(error, 'Please reload the page.')}
    </LoadError>
  );
}

/** Shown in place of a part of a page whose file could not be loaded. */
export function PartFailed({ isTrying, onRetry, onServerBack }: PartFailure) {
  useServerBack(onServerBack);
  return (
    <div className="grid min-h-0 grow place-items-center">
      <LoadError title="This part could not be loaded" isTrying={isTrying} onRetry={onRetry}>
        The server can't be reached or did not send it. The rest of the page still works.
      </LoadError>
    </div>
  );
}

interface NotFoundProps {
  readonly icon: ReactNode;
  readonly title: string;
  /** The text of the link to the dashboard. */
  readonly link: string;
  readonly children: ReactNode;
}

/** Shown in place of a page whose address leads to nothing. */
export function NotFound({ link, ...state }: NotFoundProps) {
  const home = (
    <Button asChild variant="primary">
      <Link to="/">{link}</Link>
    </Button>
  );
  return <EmptyState page actions={home} {...state} />;
}

/** Shown for a path without a page. */
export function NotFoundPage() {
  useTitle('Page Not Found');
  return (
    <NotFound icon={<Compass />} title="Page Not Found" link="Back to Dashboard">
      Error 404: this page does not exist.
    </NotFound>
  );
}
