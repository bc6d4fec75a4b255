import { queryOf } from '@creel/contract';
import { Search } from 'lucide-react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { useCommands } from '../../../ui/commands.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { IconButton } from '../../../ui/icon-button.tsx';
import type { DetailTab } from '../default-tab.ts';
import { messageText } from './message-text.ts';
import type { ShownBody } from './use-body.ts';

export interface DetailsToolsProps {
  readonly request: ListedRequest;
  readonly body: ShownBody;
  readonly tab: DetailTab;
  /** The capture URL, if Raw shows the whole message. */
  readonly message: string | undefined;
  readonly find: string | undefined;
  readonly onFind: (find: string | undefined) => void;
}

/** Beside the tabs: the content type, search, and a button that copies what the tab shows. */
export function DetailsTools({ request, body, tab, message, find, onFind }: DetailsToolsProps) {
  const searchable = tab === 'headers' || ((tab === 'json' || tab === 'raw') && body.view?.text !== undefined);
  const toggle = (): void => onFind(find === undefined ? '' : undefined);
  useCommands([{ id: 'details.find', title: 'Search inside the request', group: 'Request', keys: 'f', run: toggle }]);
  const text =
    tab === 'raw' && message !== undefined
      ? () => messageText(request, message, body.view)
      : textToCopy(request, body, tab);
  return (
    <div className="absolute top-px right-0 flex h-9.5 items-center gap-0.5 bg-bg pr-3 pl-1">
      {request.contentType === null || tab === 'deliveries' ? null : (
        <span
          className="mr-1 hidden max-w-44 truncate font-mono text-sm text-ink-3 @3xl:block"
          title={request.contentType}
        >
          {request.contentType}
        </span>
      )}
      {searchable ? (
        <IconButton
          label="Search inside"
          keys="f"
          icon={<Search />}
          aria-pressed={find !== undefined}
          onClick={toggle}
        />
      ) : null}
      {text === undefined ? null : <CopyButton text={text} label="Copy what is shown" />}
    </div>
  );
}

/** The content of a tab as text; `undefined` if there is none. */
function textToCopy(request: ListedRequest, { view }: ShownBody, tab: DetailTab): string | undefined {
  const text = tabText(request, view?.text, tab);
  return text === '' ? undefined : text;
}

function tabText(request: ListedRequest, body: string | undefined, tab: DetailTab): string | undefined {
  if (tab === 'headers') return request.rawHeaders.map(([name, value]) => `${name}: ${value}`).join('\n');
  if (tab === 'query') return queryOf(request).slice(1);
  return tab === 'deliveries' ? undefined : body;
}
