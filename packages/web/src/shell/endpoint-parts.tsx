import type { Endpoint } from '@creel/contract';
import { useState } from 'react';
import { ReplayPanel } from '../features/replay/replay-panel.tsx';
import { useReplayDraft } from '../features/replay/replay-drafts.tsx';
import type { DetailsParts } from '../features/requests/details/request-details.tsx';
import type { RequestPartProps } from '../features/requests/details/details-header.tsx';
import { SignatureFact } from '../features/signatures/signature-fact.tsx';
import { COMMAND_IDS, runCommand, useCommands } from '../ui/commands.ts';
import { lazyPart } from '../ui/lazy-part.tsx';

const DeliveriesTab = lazyPart(async () => (await import('../features/deliveries/deliveries-tab.tsx')).DeliveriesTab);
const ForwardDialog = lazyPart(async () => (await import('../features/deliveries/forward-dialog.tsx')).ForwardDialog);
const SigningDialog = lazyPart(async () => (await import('../features/signatures/signing-dialog.tsx')).SigningDialog);

/** The Deliveries tab. An attempt opens in the replay form of the same request. */
function Deliveries({ uid, request }: RequestPartProps) {
  const [, change] = useReplayDraft(request.index);
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
export const DETAILS_PARTS: DetailsParts = { Below: ReplayPanel, Deliveries, SignatureFact };

/** The dialogs of an endpoint: forwarding, and the signing secret, which can open above it. */
export function EndpointDialogs({ endpoint }: { readonly endpoint: Pick<Endpoint, 'uid' | 'url'> }) {
  const [isForwarding, setForwarding] = useState(false);
  const [isSigning, setSigning] = useState(false);
  const group = 'Endpoint';
  useCommands([
    { id: COMMAND_IDS.forward, title: 'Forward requests', group, run: () => setForwarding(true) },
    { id: COMMAND_IDS.signing, title: 'Signing secret', group, run: () => setSigning(true) },
  ]);
  return (
    <>
      {isForwarding ? <ForwardDialog endpoint={endpoint} onClose={() => setForwarding(false)} /> : null}
      {isSigning ? <SigningDialog uid={endpoint.uid} onClose={() => setSigning(false)} /> : null}
    </>
  );
}
