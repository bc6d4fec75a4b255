import { Columns2, Copy, Download, Ellipsis, Link2, Search, Trash2 } from 'lucide-react';
import { readWholeBody } from '../../../api/body-queries.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { fileExtension } from '../../../bodies/body-kind.ts';
import { toBase64 } from '../../../bodies/encoding.ts';
import { IconButton } from '../../../ui/button.tsx';
import { BODY_COPIED, CONTENT_COPIED, copyWithToast } from '../../../ui/copy.tsx';
import { download } from '../../../ui/download.ts';
import { DropdownMenu, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/dropdown-menu.tsx';
import { toastError } from '../../../ui/toast-store.ts';
import { exportRequests } from '../export.ts';
import { snippetOf, SNIPPET_NAMES } from '../write-snippet.ts';
import type { StableActions } from '../use-request-actions.ts';
import type { SnippetName } from '../write-snippet.ts';
import type { TabTools } from './details-tools.tsx';

const OTHERS: readonly SnippetName[] = ['fetch', 'httpie', 'python', 'http'];

/** Another user who opens the link only reads that there is no such endpoint. */
const LINK_COPIED = {
  ...CONTENT_COPIED,
  description: 'Only your account can open it. For others, download the HAR or copy the request.',
};

export interface DetailsMenuProps {
  readonly uid: string;
  readonly captureUrl: string;
  readonly request: ListedRequest;
  readonly actions: StableActions;
  readonly tools: TabTools;
}

/** Further actions on a request. */
export function DetailsMenu({ uid, captureUrl, request, actions, tools }: DetailsMenuProps) {
  return (
    <DropdownMenu trigger={<IconButton label="More actions" icon={<Ellipsis />} className="size-7" />}>
      <MenuItem disabled={tools.toggleFind === undefined} keys="f" onSelect={() => tools.toggleFind?.()}>
        <Search /> Search inside
      </MenuItem>
      <MenuItem disabled={tools.text === undefined} onSelect={() => void copyWithToast(tools.text ?? '')}>
        <Copy /> Copy what is shown
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>Copy as</MenuLabel>
      {OTHERS.map((name) => (
        <MenuItem key={name} onSelect={() => void copyWithToast(() => snippetOf(name, uid, request, captureUrl))}>
          <Copy /> {SNIPPET_NAMES[name]}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem
        disabled={request.size === 0}
        onSelect={() => void copyWithToast(() => bodyText(uid, request), BODY_COPIED)}
      >
        <Copy /> {isText(request) ? 'Copy body' : 'Copy body as base64'}
      </MenuItem>
      <MenuItem onSelect={() => void copyWithToast(linkTo(request), LINK_COPIED)}>
        <Link2 /> Copy link
      </MenuItem>
      <MenuItem disabled={request.size === 0} onSelect={() => attempt(() => downloadBody(uid, request))}>
        <Download /> Download body
      </MenuItem>
      <MenuItem onSelect={() => attempt(() => exportRequests('har', uid, captureUrl, [request]))}>
        <Download /> Download HAR
      </MenuItem>
      <MenuSeparator />
      <MenuItem onSelect={() => void actions.onCompare(request)}>
        <Columns2 /> Compare with…
      </MenuItem>
      <MenuItem destructive onSelect={() => actions.onDelete(request)}>
        <Trash2 /> Delete
      </MenuItem>
    </DropdownMenu>
  );
}

/** Shows a toast if a download fails. */
function attempt(act: () => Promise<void>): void {
  act().catch(() => toastError('The request could not be read. It may no longer be stored.'));
}

const isText = ({ bodyEncoding }: ListedRequest): boolean => bodyEncoding === 'utf8';

/** The body as a clipboard can hold it: the text, or base64 of bytes that are not UTF-8. */
async function bodyText(uid: string, request: ListedRequest): Promise<string> {
  const bytes = await readWholeBody(uid, request);
  return isText(request) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : toBase64(bytes);
}

function linkTo(request: ListedRequest): string {
  const link = new URL(location.pathname, location.origin);
  link.searchParams.set('request', String(request.index));
  return link.href;
}

async function downloadBody(uid: string, request: ListedRequest): Promise<void> {
  const bytes = await readWholeBody(uid, request);
  download([bytes], `request-${request.index}.${fileExtension(bytes)}`);
}
