import type { Destination, Endpoint } from '@creel/contract';
import { useState } from 'react';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { keepsFocus } from '../../ui/focus.ts';
import { Tabs, TabPanel } from '../../ui/tabs.tsx';
import { DestinationForm } from './destination-form.tsx';
import { DestinationList } from './destination-list.tsx';

const TABS = [
  { value: 'server', label: 'To a public URL' },
  { value: 'local', label: 'To localhost' },
] as const;

interface ForwardDialogProps {
  readonly endpoint: Pick<Endpoint, 'uid' | 'url'>;
  readonly onClose: () => void;
}

/** Forwards the captures of an endpoint: to public URLs by the server, or to the user's machine by `creel forward`. */
export function ForwardDialog({ endpoint, onClose }: ForwardDialogProps) {
  const [where, setWhere] = useState<(typeof TABS)[number]['value']>('server');
  /** The destination in the form, or `new`. */
  const [edited, setEdited] = useState<Destination | 'new'>();
  /** What was in the form last, which gets the focus afterwards. */
  const [left, setLeft] = useState<Destination['id'] | 'new'>();
  const { uid } = endpoint;
  if (edited !== undefined) {
    return (
      <Dialog
        key="form"
        onClose={onClose}
        width="md"
        title={edited === 'new' ? 'Add destination' : 'Edit destination'}
        description="The server sends each new capture that matches, with its original headers and body, and tries again after a failure."
      >
        <DestinationForm
          uid={uid}
          destination={edited === 'new' ? undefined : edited}
          onDone={() => {
            setLeft(edited === 'new' ? edited : edited.id);
            setEdited(undefined);
          }}
        />
      </Dialog>
    );
  }
  return (
    <Dialog key="list" onClose={onClose} width="md" title="Forward">
      <Tabs
        label="Where to forward"
        value={where}
        onValueChange={setWhere}
        tabs={TABS}
        listClassName="-mx-1 mb-3 border-b border-line pb-2"
      >
        <TabPanel value="server" hasControls>
          {/* A deleted destination leaves the focus to the button that adds one. */}
          <div {...keepsFocus('button:not(li *)')} className="outline-none">
            <DestinationList uid={uid} firstFocus={left} onAdd={() => setEdited('new')} onEdit={setEdited} />
          </div>
        </TabPanel>
        <TabPanel value="local" hasControls>
          <LocalForward endpoint={endpoint} />
        </TabPanel>
      </Tabs>
    </Dialog>
  );
}

const DEFAULT_PORT = '3000';

/** The command that forwards the captures of an endpoint to a program on the user's machine. */
function LocalForward({ endpoint }: { readonly endpoint: Pick<Endpoint, 'url'> }) {
  const [port, setPort] = useState(DEFAULT_PORT);
  const local = `http://localhost:${port === '' ? DEFAULT_PORT : port}`;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-ink-2">
        The creel command sends each new capture from your machine to a local program, byte for byte, until you press
        Ctrl-C. The responses appear in the list.
      </p>
      <Field label="Port of your program" hint="The part after the capture URL is appended to the local URL.">
        {(control) => (
          <Input
            {...control}
            isData
            inputMode="numeric"
            maxLength={5}
            value={port}
            onChange={(change) => setPort(change.target.value.replaceAll(/\D/g, ''))}
            className="max-w-28"
          />
        )}
      </Field>
      <Command title="Log in once" line={`creel login --server ${location.origin}`} />
      <Command title="Forward" line={`creel forward --server ${location.origin} ${endpoint.url} ${local}`} />
      <p className="text-sm text-ink-2">
        If your shell does not know the command, run <code>alias creel=&quot;$PWD/packages/cli/creel.mjs&quot;</code> in
        the folder of Creel.
      </p>
    </div>
  );
}

function Command({ title, line }: { readonly title: string; readonly line: string }) {
  return (
    <div className="flex flex-col gap-1.5">
      <h3 className="font-medium">{title}</h3>
      <div className="relative rounded-md border border-line bg-sunk">
        <code className="block p-3 pr-10 text-sm wrap-anywhere">{line}</code>
        <CopyButton text={line} label={`Copy: ${title}`} className="absolute top-1.5 right-1.5" />
      </div>
    </div>
  );
}
