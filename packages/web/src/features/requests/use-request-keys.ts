import type { Endpoint } from '@creel/contract';
import { useIsAnonymous } from '../../api/queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { COMMAND_IDS, runCommand, useCommands } from '../../ui/commands.ts';
import type { Command } from '../../ui/commands.ts';
import { copyWithToast } from '../../ui/copy.tsx';
import type { Bulk } from './bulk/use-bulk.ts';
import { snippetOf } from './write-snippet.ts';
import type { RequestActions } from './use-request-actions.ts';
import type { Selection } from './use-selection.ts';
import { useChangeView } from './use-view-state.ts';
import type { DetailTab } from './use-view-state.ts';

interface RequestKeysProps {
  readonly endpoint: Endpoint;
  readonly selection: Selection;
  readonly actions: RequestActions;
  readonly bulk: Bulk;
}

const TABS: readonly { tab: DetailTab; title: string }[] = [
  { tab: 'json', title: 'Show JSON' },
  { tab: 'headers', title: 'Show headers' },
  { tab: 'query', title: 'Show query params' },
  { tab: 'raw', title: 'Show raw' },
  { tab: 'deliveries', title: 'Show deliveries' },
];

const GROUP = 'Request';

/** The keyboard shortcuts of the endpoint page. */
export function useRequestKeys(props: RequestKeysProps): void {
  const { selection, bulk } = props;
  const changeView = useChangeView();
  const canRunBulk = !useIsAnonymous() && bulk.job === undefined;
  const step = (by: 1 | -1) => () => selection.step(by);
  const tabs = TABS.map(({ tab, title }, position) => ({
    id: `request.tab.${tab}`,
    title,
    group: GROUP,
    keys: String(position + 1),
    run: () => changeView({ tab }),
  }));
  useCommands([
    { id: 'request.next', title: 'Next request', group: GROUP, keys: 'j', inPalette: false, run: step(1) },
    { id: 'request.previous', title: 'Previous request', group: GROUP, keys: 'k', inPalette: false, run: step(-1) },
    ...(selection.current === undefined ? [] : [...tabs, ...commandsOn(selection.current, canRunBulk, props)]),
  ]);
}

/** The commands on the request in the details, or, like the bar above the list, on the marked ones. */
function commandsOn(current: ListedRequest, canRunBulk: boolean, props: RequestKeysProps): readonly Command[] {
  const { endpoint, actions, bulk } = props;
  const isBulk = bulk.requests.length > 0;
  const onEither = (one: () => void, selected: () => void) => () => {
    if (!isBulk) one();
    else if (canRunBulk) selected();
  };
  const commands = [
    {
      id: 'request.save',
      title: 'Save the request',
      keys: 's',
      run: onEither(() => actions.save(current), bulk.save),
    },
    {
      id: 'request.send-again',
      title: 'Replay the request',
      keys: 'r',
      run: onEither(() => runCommand(COMMAND_IDS.replay), bulk.replay),
    },
    {
      id: 'request.curl',
      title: 'Copy as cURL',
      keys: 'c',
      run: () => void copyWithToast(() => snippetOf('curl', endpoint.uid, current, endpoint.url)),
    },
    {
      id: 'request.delete',
      title: 'Delete the request',
      keys: 'Delete',
      run: () => actions.remove(isBulk ? bulk.requests : [current], bulk.clear),
    },
    { id: 'request.mark', title: 'Select the request', keys: 'x', run: () => bulk.mark(current, false) },
  ];
  return commands.map((command) => ({ ...command, group: GROUP }));
}
