import { queryOf, queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { memo, useState } from 'react';
import type { ComponentType, ReactNode } from 'react';
import { useIsAnonymous } from '../../../api/queries.ts';
import type { ListedRequest, RequestPartProps } from '../../../api/request-list.ts';
import { requestQuery } from '../../../api/request-queries.ts';
import { readable } from '../../../bodies/encoding.ts';
import { FieldTable } from '../../../bodies/field-table.tsx';
import { FindBar } from '../../../bodies/find-bar.tsx';
import type { Find } from '../../../bodies/find-bar.tsx';
import { DeliveryBadge } from '../delivery-badge.tsx';
import { RowCopyButton } from '../../../ui/copy.tsx';
import { Loading } from '../../../ui/feedback.tsx';
import { lazyPart } from '../../../ui/lazy-part.tsx';
import { Tabs, TabPanel } from '../../../ui/tabs.tsx';
import type { DetailTab } from '../use-view-state.ts';
import { DetailsHeader } from './details-header.tsx';
import type { DetailsHeaderProps } from './details-header.tsx';
import { AuthenticationRequired, BodyNotes } from './details-notices.tsx';
import { DetailsTools, tabTools } from './details-tools.tsx';
import { defaultTab } from './tab-content.ts';
import type { RawView } from './tab-content.ts';
import { useBody } from './use-body.ts';
import type { ShownBody } from './use-body.ts';

const BODY_LOADING = (
  <Loading label="Loading the body" bars={['h-3 w-1/3', 'h-3 w-2/3', 'h-3 w-1/2']} className="gap-2 p-4" />
);

const JsonTab = lazyPart(async () => (await import('./json-tab.tsx')).JsonTab, BODY_LOADING);
const RawTab = lazyPart(async () => (await import('./raw-tab.tsx')).RawTab, BODY_LOADING);

/** Parts of the details that other features show. */
export interface DetailsParts {
  /** Below the content of a request. */
  readonly ReplayPanel: ComponentType<RequestPartProps>;
  readonly DeliveriesTab: ComponentType<RequestPartProps>;
  /** In the line of facts: whether the signature is valid. */
  readonly SignatureFact: ComponentType<RequestPartProps>;
}

interface RequestDetailsProps extends Omit<DetailsHeaderProps, 'request' | 'tools' | 'SignatureFact'> {
  readonly listed: ListedRequest;
  /** From the URL; by default the initial tab of the request. */
  readonly tab: DetailTab | undefined;
  readonly parts: DetailsParts;
}

/** One captured request as JSON, headers, query and raw text. Memoized. */
export const RequestDetails = memo(function RequestDetails(props: RequestDetailsProps) {
  const { listed, tab, parts, ...header } = props;
  const { ReplayPanel, DeliveriesTab, SignatureFact } = parts;
  const { onTab } = header.actions;
  const isAnonymous = useIsAnonymous();
  const { data: found } = useQuery({
    ...requestQuery(header.uid, listed.index, listed.saved),
    enabled: listed.slim !== undefined,
  });
  const request = listed.slim !== undefined && found ? { ...found, id: listed.id, saved: listed.saved } : listed;
  const [findText, setFindText] = useState<string>();
  const isBodySearched = (findText ?? '') !== '' && (tab === undefined || tab === 'json' || tab === 'raw');
  const body = useBody(header.uid, request, isBodySearched);
  const find = { text: findText, change: setFindText, isLoading: body.isLoading };
  const [rawView, setRawView] = useState<RawView>();
  const own = defaultTab(request.size, request.contentType, () => body.view?.json !== undefined);
  const shown = tab ?? own;
  const tools = tabTools({ request, body, tab: shown, rawView, captureUrl: header.captureUrl, find });
  const tabs = [
    { value: 'json', label: 'JSON' },
    { value: 'headers', label: 'Headers', count: request.rawHeaders.length },
    { value: 'query', label: 'Query Params', count: queryPairs(request).length },
    { value: 'raw', label: 'Raw' },
    {
      value: 'deliveries',
      label: 'Deliveries',
      note: request.lastDelivery !== null || request.deliveryPending ? <DeliveryBadge request={request} /> : undefined,
    },
  ] as const;
  return (
    <section
      aria-label={`Request ${request.index}`}
      // Over the list, there is too little height for two scroll areas, so everything scrolls together.
      className={clsx('@container flex h-full min-h-0 flex-col', header.covers && 'overflow-y-auto')}
    >
      <DetailsHeader request={request} tools={tools} SignatureFact={SignatureFact} {...header} />
      {isAnonymous ? <AuthenticationRequired /> : null}
      <Tabs
        label="Parts of the request"
        value={shown}
        // JSON as the default tab is not kept for the next request, which may not be JSON.
        onValueChange={(chosen) => onTab(chosen === 'json' && own === 'json' ? undefined : chosen)}
        tabs={tabs}
        className={clsx('relative flex grow flex-col', header.covers ? 'min-h-[max(45%,16rem)] basis-0' : 'min-h-0')}
        listClassName="min-h-10 shrink-0 border-y border-line px-3 @max-sm:gap-0 @max-sm:px-2 @max-sm:*:px-1.5 @md:pr-32"
      >
        <DetailsTools request={request} tab={shown} find={find} tools={tools} />
        <TabPanel value="headers" className="min-h-0 grow overflow-auto">
          <HeadersTab request={request} find={find} />
        </TabPanel>
        <TabPanel value="query" className="min-h-0 grow overflow-auto">
          <QueryTab request={request} />
        </TabPanel>
        <TabPanel value="json" hasControls={body.view?.json !== undefined} className="flex min-h-0 grow flex-col">
          <BodyPanel body={body} request={request}>
            <JsonTab body={body} request={request} find={find} onRaw={() => onTab('raw')} />
          </BodyPanel>
        </TabPanel>
        <TabPanel value="raw" hasControls className="flex min-h-0 grow flex-col">
          <BodyPanel body={body} request={request}>
            <RawTab
              body={body}
              request={request}
              captureUrl={header.captureUrl}
              chosen={rawView}
              onChoose={setRawView}
              find={find}
            />
          </BodyPanel>
        </TabPanel>
        <TabPanel value="deliveries" className="min-h-0 grow overflow-auto">
          <DeliveriesTab uid={header.uid} request={request} />
        </TabPanel>
      </Tabs>
      <ReplayPanel uid={header.uid} request={request} />
    </section>
  );
});

interface BodyPanelProps {
  readonly body: ShownBody;
  readonly request: ListedRequest;
  readonly children: ReactNode;
}

function BodyPanel({ body, request, children }: BodyPanelProps) {
  return (
    <>
      <BodyNotes body={body} request={request} />
      {body.view === undefined && body.error === null ? BODY_LOADING : children}
    </>
  );
}

/** A heading in the Headers tab of a request without a body, which also shows its query parameters. */
function PartTitle({ children }: { readonly children: string }) {
  return <h3 className="px-4 pt-3 pb-1 text-sm font-medium text-ink-2">{children}</h3>;
}

/** The headers as received, with their case, order and repeats. A search leaves those that contain its text. */
function HeadersTab({ request, find }: { readonly request: CapturedRequest; readonly find: Find }) {
  const wanted = find.text?.toLowerCase() ?? '';
  const fields = request.rawHeaders
    .map(([name, value]): [string, string] => [name, readable(value)])
    .filter((field) => field.join(': ').toLowerCase().includes(wanted));
  return (
    <>
      {find.text === undefined ? null : (
        <div className="sticky top-0 z-10">
          <FindBar find={find} count={fields.length} searched={find.text} />
        </div>
      )}
      {request.size === 0 && queryOf(request) !== '' ? (
        <>
          <PartTitle>Query Params</PartTitle>
          <QueryTab request={request} />
          <PartTitle>Headers</PartTitle>
        </>
      ) : null}
      {fields.length > 0 ? (
        <FieldTable label="Headers" nameTitle="Header" fields={fields} />
      ) : (
        <p className="p-4 text-ink-2">
          {request.rawHeaders.length === 0 ? 'This request has no headers.' : 'No header contains this text.'}
        </p>
      )}
    </>
  );
}

/** The query string as sent, and its decoded parameters in order. Each value of a repeated name has its own row. */
function QueryTab({ request }: { readonly request: CapturedRequest }) {
  const query = queryOf(request);
  const fields = queryPairs(request);
  if (query === '') return <p className="p-4 text-ink-2">This request has no query parameters.</p>;
  return (
    <>
      <div className="group relative border-b border-line bg-sunk px-4 py-1.5 pr-10 font-mono text-sm break-all pointer-coarse:py-4 pointer-coarse:pr-12">
        <span className="sr-only">As sent: </span>
        {query}
        <RowCopyButton text={query} label="Copy the query as sent" />
      </div>
      {fields.length === 0 ? (
        <p className="p-4 text-ink-2">The query string is empty.</p>
      ) : (
        <FieldTable label="Query parameters" nameTitle="Parameter" fields={fields} />
      )}
    </>
  );
}
