import { endpointTitle } from '@creel/contract';
import type { EndpointDetail, Endpoint } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { Unplug } from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { failureOf, isNotFound } from '../api/client.ts';
import { useLiveStatus } from '../api/live-feed.ts';
import { endpointQuery, useUser } from '../api/queries.ts';
import type { RequestPartProps } from '../api/request-list.ts';
import { useHasPausedDestination } from '../features/deliveries/delivery-queries.ts';
import { EndpointFrame } from '../features/endpoints/endpoint-frame.tsx';
import { EndpointLoading } from '../features/endpoints/endpoint-loading.tsx';
import { useReplayDraft } from '../features/replay/replay-drafts.ts';
import { ReplayPanel } from '../features/replay/replay-panel.tsx';
import type { DetailsParts } from '../features/requests/details/request-details.tsx';
import { RequestsPane } from '../features/requests/requests-pane.tsx';
import { SignatureFact } from '../features/signatures/signature-fact.tsx';
import { COMMAND_IDS, runCommand, useCommands } from '../ui/commands.ts';
import { LoadError } from '../ui/feedback.tsx';
import { keepsFocus } from '../ui/focus.ts';
import { lazyPart } from '../ui/lazy-part.tsx';
import { useTitle } from '../ui/page.tsx';
import { NotFound } from './error-pages.tsx';

const BulkReplay = lazyPart(async () => (await import('../features/replay/bulk-replay-dialog.tsx')).BulkReplayDialog);

/** The endpoint page. It is in the shell because it combines several features. */
export function EndpointPage() {
  const { uid } = useParams({ from: '/signed-in/endpoints/$uid' });
  const endpoint = useQuery(endpointQuery(uid));
  return (
    <>
      <EndpointPageTitle title={pageTitle(endpoint)} />
      <EndpointContent endpoint={endpoint} />
    </>
  );
}

function EndpointContent({ endpoint }: { readonly endpoint: UseQueryResult<EndpointDetail> }) {
  if (isNotFound(endpoint.error)) return <EndpointNotFound />;
  if (endpoint.data !== undefined) return <LoadedEndpoint key={endpoint.data.uid} endpoint={endpoint.data} />;
  if (!endpoint.isError) return <EndpointLoading />;
  return <LoadError page title="The endpoint could not be loaded" {...failureOf(endpoint)} />;
}

function pageTitle({ data, error }: UseQueryResult<EndpointDetail>): string {
  if (isNotFound(error)) return 'Endpoint Not Found';
  return data === undefined ? 'Endpoint' : endpointTitle(data);
}

/** The same for an endpoint of another user, because its existence is private. */
function EndpointNotFound() {
  const user = useUser();
  return (
    <NotFound icon={<Unplug />} title="Endpoint Not Found" link="Go Home">
      <p>The webhook endpoint you&apos;re looking for doesn&apos;t exist or has expired.</p>
      {user === null ? null : (
        <p className="mt-1 wrap-anywhere">
          Only the account that created an endpoint can open it. You are logged in as{' '}
          <strong className="font-medium text-ink">{user.username}</strong>.
        </p>
      )}
    </NotFound>
  );
}

function LoadedEndpoint({ endpoint }: { readonly endpoint: EndpointDetail }) {
  const hasPausedDestination = useHasPausedDestination(endpoint.uid);
  return (
    <div className="flex min-h-full flex-col md:h-full">
      <EndpointFrame endpoint={endpoint} hasPausedDestination={hasPausedDestination} />
      {/* What replaces the list leaves the focus to it. While code loads, the main part has the focus. */}
      <div
        {...keepsFocus('[role="grid"]')}
        tabIndex={undefined}
        className="min-h-0 border-t border-line md:min-h-80 md:grow"
      >
        <RequestsPane endpoint={endpoint} parts={DETAILS_PARTS} BulkReplay={BulkReplay} />
      </div>
      <EndpointDialogs endpoint={endpoint} />
    </div>
  );
}

const DeliveriesTab = lazyPart(async () => (await import('../features/deliveries/deliveries-tab.tsx')).DeliveriesTab);
const ForwardDialog = lazyPart(async () => (await import('../features/deliveries/forward-dialog.tsx')).ForwardDialog);
const SigningDialog = lazyPart(async () => (await import('../features/signatures/signing-dialog.tsx')).SigningDialog);

/** The Deliveries tab. An attempt opens in the replay form of the same request. */
function Deliveries({ uid, request }: RequestPartProps) {
  const [, change] = useReplayDraft(uid, request.index);
  return (
    <DeliveriesTab
      uid={uid}
      request={request}
      onReplay={({ method, url }) => {
        change({ method, url });
        runCommand(COMMAND_IDS.replay);
      }}
    />
  );
}

/** What other features show in the details of a request. */
const DETAILS_PARTS: DetailsParts = { ReplayPanel, DeliveriesTab: Deliveries, SignatureFact };

/** The dialogs of an endpoint: forwarding, and the signing secret, which can open above it. */
function EndpointDialogs({ endpoint }: { readonly endpoint: Pick<Endpoint, 'uid' | 'url'> }) {
  const [isForwarding, setForwarding] = useState(false);
  const [isSigning, setSigning] = useState(false);
  const opened = useSearch({ from: '/signed-in/endpoints/$uid', select: ({ request }) => request });
  const group = 'Endpoint';
  useCommands([
    { id: COMMAND_IDS.forward, title: 'Forward requests', group, run: () => setForwarding(true) },
    { id: COMMAND_IDS.signing, title: 'Signing secret', group, run: () => setSigning(true) },
  ]);
  return (
    <>
      {isForwarding ? <ForwardDialog endpoint={endpoint} onClose={() => setForwarding(false)} /> : null}
      {isSigning ? <SigningDialog uid={endpoint.uid} opened={opened} onClose={() => setSigning(false)} /> : null}
    </>
  );
}

/** The title of an endpoint's page, with the number of requests that arrived while the tab was hidden: '(3) Orders'. */
function EndpointPageTitle({ title }: { readonly title: string }) {
  const { received } = useLiveStatus();
  const hidden = useSyncExternalStore(onVisibility, () => document.hidden);
  const [seen, setSeen] = useState(received);
  if (!hidden && seen !== received) setSeen(received);
  const unseen = hidden ? received - seen : 0;
  useTitle(title, unseen);
  return null;
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
