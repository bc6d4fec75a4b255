import { useCommands } from '../../ui/commands.ts';
import { toast } from '../../ui/toast-store.ts';
import { copyText } from '../../ui/use-copy.ts';
import type { Bulk } from './bulk/use-bulk.ts';
import type { DetailTab } from './default-tab.ts';
import { snippetOf } from './details/export.ts';
import type { ListItems } from './list-items.ts';
import type { RequestActions } from './use-request-actions.ts';
import type { Selection } from './use-selection.ts';
import type { ChangeView } from './use-view-state.ts';

export interface RequestKeysProps {
  readonly uid: string;
  readonly captureUrl: string;
  readonly items: ListItems;
  readonly selection: Selection;
  readonly actions: RequestActions;
  readonly bulk: Bulk;
  readonly changeView: ChangeView;
}

const TABS: readonly { tab: DetailTab; title: string }[] = [
  { tab: 'json', title: 'Show JSON' },
  { tab: 'headers', title: 'Show headers' },
  { tab: 'query', title: 'Show query params' },
  { tab: 'raw', title: 'Show raw' },
  { tab: 'deliveries', title: 'Show deliveries' },
];

/** The keyboard shortcuts of the endpoint page. */
export function useRequestKeys({ uid, captureUrl, selection, actions, bulk, changeView }: RequestKeysProps): void {
  const { current } = selection;
  const group = 'Request';
  const onCurrent =
    current === undefined
      ? []
      : [
          ...TABS.map(({ tab, title }, place) => ({
            id: `request.tab.${tab}`,
            title,
            group,
            keys: String(place + 1),
            run: () => changeView({ tab }),
          })),
          { id: 'request.save', title: 'Save the request', group, keys: 's', run: () => actions.save(current) },
          { id: 'request.curl', title: 'Copy as cURL', group, keys: 'c', run: () => void copyCurl() },
          {
            id: 'request.delete',
            title: 'Delete the request',
            group,
            keys: 'Delete',
            run: () => actions.remove(bulk.requests.length > 0 ? bulk.requests : [current], bulk.clear),
          },
          {
            id: 'request.mark',
            title: 'Select the request',
            group,
            keys: 'x',
            run: () => bulk.mark(current, false),
          },
        ];
  async function copyCurl(): Promise<void> {
    if (current === undefined) return;
    if (await copyText(await snippetOf('curl', uid, current, captureUrl))) {
      toast({ title: 'Content Copied', description: 'Content has been copied to your clipboard.' });
    }
  }
  useCommands([
    { id: 'request.next', title: 'Next request', group, keys: 'j', inPalette: false, run: () => selection.step(1) },
    {
      id: 'request.previous',
      title: 'Previous request',
      group,
      keys: 'k',
      inPalette: false,
      run: () => selection.step(-1),
    },
    ...onCurrent,
  ]);
}
