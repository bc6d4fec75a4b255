import { queryOf } from '@creel/contract';
import { Search } from 'lucide-react';
import type { ListedRequest } from '../../../api/request-list.ts';
import type { Find } from '../../../bodies/find-bar.tsx';
import { readable } from '../../../bodies/encoding.ts';
import { IconButton } from '../../../ui/button.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import type { DetailTab } from '../use-view-state.ts';
import { isSearchable, messageText, rawViewOf } from './tab-content.ts';
import type { RawView } from './tab-content.ts';
import type { ShownBody } from './use-body.ts';

interface TabToolsInput {
  readonly request: ListedRequest;
  readonly body: ShownBody;
  readonly tab: DetailTab;
  /** The selected view of Raw. */
  readonly rawView: RawView | undefined;
  readonly captureUrl: string;
  readonly find: Find;
}

export type TabTools = ReturnType<typeof tabTools>;

/** What can be done with the content of the tab that is shown. */
export function tabTools({ request, body, tab, rawView, captureUrl, find }: TabToolsInput) {
  const isMessage = tab === 'raw' && (rawView === 'message' || request.size === 0);
  const searchable = isSearchable(request, body.view, tab, rawView);
  const isFields = tab === 'raw' && body.view !== undefined && rawViewOf(body.view, rawView) === 'fields';
  return {
    /** Opens or closes the search; `undefined` if the tab shows nothing to search. */
    toggleFind: searchable ? () => find.change(find.text === undefined ? '' : undefined) : undefined,
    /** What the tab shows; `undefined` if there is nothing to copy. */
    text: isMessage
      ? () => messageText(request, captureUrl, body.view)
      : textToCopy(request, body, tab, searchable || isFields),
  };
}

interface DetailsToolsProps extends Pick<TabToolsInput, 'request' | 'tab' | 'find'> {
  readonly tools: TabTools;
}

/**
 * Beside the tabs: the content type, search, and a button that copies what the tab shows. A narrow pane has only room
 * for the tabs, so there they are in the menu.
 */
export function DetailsTools({ request, tab, find, tools: { toggleFind, text } }: DetailsToolsProps) {
  useCommands([
    {
      id: 'details.find',
      title: 'Search inside the request',
      group: 'Request',
      keys: 'f',
      run: () => toggleFind?.(),
    },
  ]);
  return (
    <div className="absolute top-px right-0 flex h-9.5 items-center gap-0.5 bg-bg pr-3 pl-1 @max-md:hidden">
      {request.contentType === null || tab === 'deliveries' ? null : (
        <span
          className="mr-1 hidden max-w-44 truncate font-mono text-sm text-ink-3 @3xl:block"
          title={request.contentType}
        >
          {request.contentType}
        </span>
      )}
      {toggleFind === undefined ? null : (
        <IconButton
          label="Search inside"
          keys="f"
          icon={<Search />}
          aria-pressed={find.text !== undefined}
          onClick={toggleFind}
        />
      )}
      {text === undefined ? null : <CopyButton text={text} label="Copy what is shown" />}
    </div>
  );
}

/** The content of a tab as text; `undefined` if there is none. Bytes in hex have a copy button of their own. */
function textToCopy(request: ListedRequest, { view }: ShownBody, tab: DetailTab, hasText: boolean): string | undefined {
  if (tab === 'deliveries') return undefined;
  if (tab === 'headers')
    return request.rawHeaders.map(([name, value]) => `${name}: ${readable(value)}`).join('\n') || undefined;
  if (tab === 'query') return queryOf(request).slice(1) || undefined;
  return (hasText && view?.text) || undefined;
}
