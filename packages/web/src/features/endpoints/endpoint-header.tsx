import { endpointTitle, isExpired } from '@creel/contract';
import type { Endpoint, EndpointDetail } from '@creel/contract';
import { clsx } from 'clsx';
import { ChevronsDownUp, ChevronsUpDown, Plus, Pencil } from 'lucide-react';
import { useState } from 'react';
import { errorMessage } from '../../api/client.ts';
import { Badge, FACT, FACTS } from '../../ui/badges.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { ConfirmButton, Dialog } from '../../ui/dialog.tsx';
import { Form, FormButtons, useForm } from '../../ui/form.tsx';
import { formatMoment, timeAgo } from '../../ui/format.ts';
import { useNow } from '../../ui/state.ts';
import { NameAndSource } from './create-endpoint-dialog.tsx';
import { expiryLabel } from './endpoint-labels.ts';
import { useClearRequests, useDeleteEndpoint, useEditEndpoint } from './endpoint-mutations.ts';

interface EndpointHeaderProps {
  readonly endpoint: EndpointDetail;
  /** True if only the name and the URL are shown. */
  readonly isCollapsed: boolean;
  /** Id of the element that collapses. */
  readonly contentId: string;
  readonly onToggle: () => void;
}

/**
 * Name, status, age, expiry, and the buttons of an endpoint, in one line on a wide screen. On a narrower one, age and
 * expiry have their own line, because a longer age must not move the page. The buttons have one, because the name needs
 * the room. On a phone, they can be collapsed.
 */
export function EndpointHeader({ endpoint, isCollapsed, contentId, onToggle }: EndpointHeaderProps) {
  const now = useNow();
  const expired = isExpired(endpoint, now);
  return (
    <header className="flex items-start gap-x-3 gap-y-1 max-lg:flex-wrap max-md:gap-y-2">
      <div className="flex min-h-7 min-w-0 grow basis-0 flex-wrap items-center gap-x-3 gap-y-1 xl:flex-nowrap">
        <div className="group flex min-w-0 items-center gap-3">
          <h1 dir="auto" className="truncate text-xl font-semibold tracking-tight" title={endpointTitle(endpoint)}>
            {endpointTitle(endpoint)}
          </h1>
          <Badge tone={expired ? 'destructive' : 'success'}>{expired ? 'Expired' : 'Active'}</Badge>
          <EditEndpointButton endpoint={endpoint} />
        </div>
        <p className={clsx(FACTS, 'text-ink-2 max-md:text-sm max-xl:basis-full xl:shrink-0 xl:flex-nowrap')}>
          <span className={FACT} title={formatMoment(endpoint.createdAt)}>
            Created {timeAgo(endpoint.createdAt, now)}
          </span>
          <span
            className={clsx(FACT, expired && 'text-bad')}
            title={endpoint.expiresAt === null ? undefined : formatMoment(endpoint.expiresAt)}
          >
            {expiryLabel(endpoint, now)}
          </span>
          {expired ? (
            <span
              className={clsx(FACT, 'text-bad')}
              title="Senders receive status 410, and no new requests are captured."
            >
              Answers 410
            </span>
          ) : null}
        </p>
      </div>
      <div
        className={clsx(
          'flex shrink-0 items-center gap-1 max-lg:order-last max-lg:-ml-3 max-lg:basis-full max-lg:flex-wrap',
          isCollapsed && 'max-md:hidden',
        )}
      >
        <DeleteEndpointButton uid={endpoint.uid} />
        <ClearDataButton uid={endpoint.uid} />
        <Button size="sm" className="ml-1" onClick={() => runCommand(COMMAND_IDS.newEndpoint)}>
          <Plus /> New Endpoint
        </Button>
      </div>
      <IconButton
        label={isCollapsed ? 'Show endpoint details' : 'Hide endpoint details'}
        icon={isCollapsed ? <ChevronsUpDown /> : <ChevronsDownUp />}
        aria-expanded={!isCollapsed}
        aria-controls={contentId}
        onClick={onToggle}
        className="mt-0.5 -mr-1"
      />
    </header>
  );
}

/** Opens a dialog to change the name and the source of an endpoint. */
function EditEndpointButton({ endpoint }: { readonly endpoint: EndpointDetail }) {
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <IconButton
        label="Edit name and source"
        icon={<Pencil />}
        onClick={() => setEditing(true)}
        className="-mx-2 text-ink-3 hover:text-ink"
      />
      {isEditing ? (
        <Dialog onClose={() => setEditing(false)} title="Edit endpoint">
          <EditEndpointForm endpoint={endpoint} onClose={() => setEditing(false)} />
        </Dialog>
      ) : null}
    </>
  );
}

interface EditEndpointFormProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

function EditEndpointForm({ endpoint, onClose }: EditEndpointFormProps) {
  const edit = useEditEndpoint(endpoint.uid);
  const form = useForm({
    initial: { name: endpoint.name ?? '', source: endpoint.source ?? '' },
    onValid: (values) =>
      edit.mutate(values, {
        onSuccess: onClose,
        onError: (error) => form.fail(error, errorMessage(error, 'Failed to change the endpoint. Please try again.')),
      }),
  });
  return (
    <Form {...form.props} failure={form.failure}>
      <NameAndSource bind={form.bind} sourceHint="If empty, it is detected from the next request." />
      <FormButtons isPending={edit.isPending} label="Save" pendingLabel="Saving..." onCancel={onClose} />
    </Form>
  );
}

function ClearDataButton({ uid }: { readonly uid: string }) {
  const clear = useClearRequests(uid);
  return (
    <ConfirmButton
      size="sm"
      variant="ghost"
      busy={clear.isPending}
      confirm={{
        title: 'Clear Request Data',
        description:
          'This will delete all request data for this endpoint. The endpoint will remain active, but all request history will be removed.',
        confirmLabel: 'Clear Data',
        onConfirm: () => clear.mutate(),
      }}
    >
      Clear Data
    </ConfirmButton>
  );
}

function DeleteEndpointButton({ uid }: { readonly uid: string }) {
  const remove = useDeleteEndpoint();
  return (
    <ConfirmButton
      size="sm"
      variant="danger-ghost"
      busy={remove.isPending}
      confirm={{
        title: 'Delete Webhook Endpoint',
        description:
          'This will permanently delete the endpoint and all its request data. This action cannot be undone.',
        confirmLabel: 'Delete',
        onConfirm: () => remove.mutate(uid),
      }}
    >
      Delete
    </ConfirmButton>
  );
}
