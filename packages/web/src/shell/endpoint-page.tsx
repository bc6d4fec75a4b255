import { ApiError, endpointTitle } from '@creel/contract';
import type { EndpointDetail } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { endpointQuery } from '../api/queries.ts';
import { EndpointFrame } from '../features/endpoints/endpoint-frame.tsx';
import { useSetAutosave } from '../features/endpoints/endpoint-mutations.ts';
import { EndpointFailed, EndpointLoading, EndpointNotFound } from '../features/endpoints/endpoint-states.tsx';
import { ReplayDraftsProvider } from '../features/replay/replay-drafts.tsx';
import { RequestsPane } from '../features/requests/requests-pane.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DETAILS_PARTS, EndpointDialogs } from './endpoint-parts.tsx';
import { EndpointPageTitle } from './page-title.tsx';

const BulkReplay = lazyPart(
  async () => (await import('../features/replay/bulk/bulk-replay-dialog.tsx')).BulkReplayDialog,
);

/** The endpoint page. It is in the shell because it combines three features: endpoints, requests and replay. */
export function EndpointPage() {
  const { uid } = useParams({ from: '/signed-in/endpoints/$uid' });
  const endpoint = useQuery(endpointQuery(uid));
  return (
    <>
      <EndpointPageTitle uid={uid} title={pageTitle(endpoint)} />
      <EndpointContent uid={uid} endpoint={endpoint} />
    </>
  );
}

function EndpointContent({
  uid,
  endpoint,
}: {
  readonly uid: string;
  readonly endpoint: UseQueryResult<EndpointDetail>;
}) {
  if (isMissing(endpoint.error)) return <EndpointNotFound />;
  if (endpoint.data !== undefined) return <LoadedEndpoint key={uid} endpoint={endpoint.data} />;
  if (endpoint.isError) return <EndpointFailed error={endpoint.error} onRetry={() => void endpoint.refetch()} />;
  return <EndpointLoading />;
}

function pageTitle({ data, error }: UseQueryResult<EndpointDetail>): string {
  if (isMissing(error)) return 'Endpoint Not Found';
  return data === undefined ? 'Endpoint' : endpointTitle(data);
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function LoadedEndpoint({ endpoint }: { readonly endpoint: EndpointDetail }) {
  const navigate = useNavigate();
  const autosave = useSetAutosave(endpoint.uid);
  return (
    <div className="flex min-h-full flex-col md:h-full">
      <EndpointFrame endpoint={endpoint} onDeleted={() => void navigate({ to: '/' })} />
      <div className="min-h-0 border-t border-line md:grow">
        <ReplayDraftsProvider>
          <RequestsPane
            uid={endpoint.uid}
            endpoint={endpoint}
            parts={DETAILS_PARTS}
            BulkReplay={BulkReplay}
            onAutosave={() => autosave.mutate(true)}
          />
        </ReplayDraftsProvider>
      </div>
      <EndpointDialogs endpoint={endpoint} />
    </div>
  );
}
