/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */
import { isExpired } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { Forward, Send } from 'lucide-react';
import { useState } from 'react';
import { sendTestRequest } from '../../../api/client.ts';
import { useLiveStatus } from '../../../api/live-feed.ts';
import { Button } from '../../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../../ui/commands.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { useNow } from '../../../ui/state.ts';
import { Tabs, TabPanel } from '../../../ui/tabs.tsx';
import { toastError } from '../../../ui/toast-store.ts';
import { SNIPPET_NAMES, tryItSnippet } from '../write-snippet.ts';
import { invalidMessagesWarning } from './list-footer.tsx';

const PROGRAMS = ['curl', 'httpie', 'fetch', 'python'] as const;
const TABS = PROGRAMS.map((value) => ({ value, label: SNIPPET_NAMES[value] }));

/** An endpoint without requests: its URL, and ways to send it a test request. */
export function EmptyEndpoint({ endpoint }: { readonly endpoint: Endpoint }) {
  const [program, setProgram] = useState<(typeof PROGRAMS)[number]>('curl');
  const live = useLiveStatus();
  const expired = isExpired(endpoint, useNow());
  const invalidMessages = invalidMessagesWarning(live.invalidMessages);
  const send = useMutation({
    mutationFn: () => sendTestRequest(endpoint.url),
    onError: () => toastError('The test request could not be sent. Please try again.'),
  });
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col gap-5 overflow-y-auto px-5 py-6 max-md:pt-4 md:min-h-0 md:grow md:justify-center-safe">
      <div>
        <h2 className="text-lg font-semibold">No requests received yet.</h2>
        <p className="mt-1 text-ink-2">Send a request to this endpoint to see it here.</p>
        <p
          role="status"
          className={clsx(
            'mt-2 flex min-h-4 items-center gap-1.5 text-sm font-medium',
            expired ? 'text-bad' : 'text-ok',
          )}
        >
          {expired ? 'Expired: senders receive status 410, and no new requests are captured.' : null}
          {!expired && live.state === 'connected' ? (
            <>
              <span aria-hidden className="size-2 rounded-full bg-ok" />
              Live: waiting for the first request
            </>
          ) : null}
        </p>
      </div>
      {invalidMessages === undefined ? null : <Notice tone="warn">{invalidMessages}</Notice>}
      <div className="flex flex-wrap items-center gap-2 rounded-md border border-line-strong bg-panel p-1.5">
        <div className="flex min-w-0 grow basis-64 items-center gap-2 pl-1.5">
          <code className="min-w-0 grow truncate text-sm" title={endpoint.url}>
            {endpoint.url}
          </code>
          <CopyButton text={endpoint.url} label="Copy URL" toast={{ title: 'URL Copied!' }} />
        </div>
        <Button
          variant="primary"
          size="sm"
          className="max-sm:grow"
          busy={send.isPending}
          reason={expired ? 'This endpoint has expired' : undefined}
          onClick={() => send.mutate()}
        >
          <Send /> Send a test request
        </Button>
      </div>
      <Tabs label="Program" value={program} onValueChange={setProgram} tabs={TABS}>
        {PROGRAMS.map((name) => (
          <TabPanel key={name} value={name} hasControls className="mt-2">
            <Snippet text={tryItSnippet(name, endpoint.url)} label={`Copy ${SNIPPET_NAMES[name]}`} />
          </TabPanel>
        ))}
      </Tabs>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="text-ink-2">To receive the requests in a program on your machine:</p>
        <Button size="sm" onClick={() => runCommand(COMMAND_IDS.forward)}>
          <Forward /> Forward requests
        </Button>
      </div>
    </div>
  );
}

function Snippet({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="relative rounded-md border border-line bg-sunk">
      <pre tabIndex={0} className="max-h-[400px] overflow-auto p-3 pr-10 text-sm whitespace-pre-wrap wrap-anywhere">
        {text}
      </pre>
      <CopyButton text={text} label={label} className="absolute top-1.5 right-1.5" />
    </div>
  );
}
