import { useRouter } from '@tanstack/react-router';
import { CloudOff } from 'lucide-react';
import { sentenceOf } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';

/** Shown when not even the signed-in user could be asked for. */
export function LoadFailed({ error }: { readonly error: unknown }) {
  const router = useRouter();
  const again = async (): Promise<void> => {
    await queryClient.resetQueries({ predicate: (query) => query.state.status === 'error' });
    await router.invalidate();
  };
  return (
    <main className="grid h-full place-items-center">
      <EmptyState
        page
        error
        icon={<CloudOff />}
        title="Failed to fetch user data."
        actions={<Button onClick={() => void again()}>Try again</Button>}
      >
        {sentenceOf(error, 'Please reload the page.')}
      </EmptyState>
    </main>
  );
}
