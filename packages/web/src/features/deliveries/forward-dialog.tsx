import type { Destination, Endpoint } from '@creel/contract';
import { useState } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { Tabs, TabPanel } from '../../ui/tabs.tsx';
import { DestinationForm } from './destination-form.tsx';
import { DestinationList } from './destination-list.tsx';
import { LocalForward } from './local-forward.tsx';

const TABS = [
  { value: 'server', label: 'To a public URL' },
  { value: 'local', label: 'To localhost' },
] as const;

export interface ForwardDialogProps {
  readonly endpoint: Pick<Endpoint, 'uid' | 'url'>;
  readonly onClose: () => void;
}

/** Forwards the captures of an endpoint: to public URLs by the server, or to the user's machine by `creel forward`. */
export function ForwardDialog({ endpoint, onClose }: ForwardDialogProps) {
  const [where, setWhere] = useState<(typeof TABS)[number]['value']>('server');
  /** The destination in the form, or `new`. */
  const [edited, setEdited] = useState<Destination | 'new'>();
  const { uid } = endpoint;
  if (edited !== undefined) {
    return (
      <Dialog
        key="form"
        open
        onOpenChange={onClose}
        width="md"
        title={edited === 'new' ? 'Add destination' : 'Edit destination'}
        description="The server sends each new capture that matches, with its original headers and body, and tries again after a failure."
      >
        <DestinationForm
          uid={uid}
          destination={edited === 'new' ? undefined : edited}
          onDone={() => setEdited(undefined)}
        />
      </Dialog>
    );
  }
  return (
    <Dialog key="list" open onOpenChange={onClose} width="md" title="Forward">
      <Tabs
        label="Where to forward"
        value={where}
        onValueChange={setWhere}
        tabs={TABS}
        listClassName="-mx-1 mb-3 border-b border-line pb-2"
      >
        <TabPanel value="server" hasControls>
          <DestinationList uid={uid} onAdd={() => setEdited('new')} onEdit={setEdited} />
        </TabPanel>
        <TabPanel value="local" hasControls>
          <LocalForward endpoint={endpoint} />
        </TabPanel>
      </Tabs>
    </Dialog>
  );
}
