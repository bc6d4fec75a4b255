import { MAX_LABEL_LENGTH } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { endpointsQuery, useUser, userSettingsPreference } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice, UpgradeLink } from '../../ui/feedback.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { serverFieldErrors, useForm } from '../../ui/form.ts';
import { useNow } from '../../ui/state.ts';
import { createBlock } from './endpoint-labels.ts';
import { createFailure, isPlanLimit, useCreateEndpoint } from './endpoint-mutations.ts';

interface CreateEndpointDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (uid: string) => void;
}

/** Both fields are optional. If the plan allows no further endpoint, the dialog says so without a call. */
export function CreateEndpointDialog({ onClose, onCreated }: CreateEndpointDialogProps) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create Endpoint"
      description="A new URL that catches whatever is sent to it."
    >
      <CreateEndpointForm onCancel={onClose} onCreated={onCreated} />
    </Dialog>
  );
}

function CreateEndpointForm({
  onCancel,
  onCreated,
}: {
  readonly onCancel: () => void;
  readonly onCreated: (uid: string) => void;
}) {
  const user = useUser();
  const endpoints = useQuery(endpointsQuery);
  const now = useNow();
  const create = useCreateEndpoint();
  const block = user === null ? undefined : createBlock(user.subscriptionTier, endpoints.data, now);
  const form = useForm({
    initial: { name: '', source: '' },
    validate: () => ({}),
    onValid: ({ name, source }) =>
      create.mutate(
        { ...filled('name', name), ...filled('source', source), ...autosaveChoice() },
        {
          onSuccess: ({ uid }) => onCreated(uid),
          onError: (error) => form.refuse(serverFieldErrors(error, ['name', 'source'])),
        },
      ),
  });
  const isAtAField = Object.keys(form.errors).length > 0;
  const failure = block === undefined && !isAtAField ? createFailure(create.error) : undefined;
  const upgrade = user?.subscriptionTier === 'PREMIUM' ? null : <UpgradeLink onClick={onCancel} />;
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {block === undefined ? null : (
        <Notice tone="warn">
          <span>{block}</span> {upgrade}
        </Notice>
      )}
      {/* Screen readers don't announce the toast while the dialog is open. */}
      {failure === undefined ? null : (
        <Notice tone="bad">
          <span>{failure}</span> {isPlanLimit(create.error) ? upgrade : null}
        </Notice>
      )}
      <Field label="Endpoint Name (Optional)" error={form.errors['name']}>
        {(control) => (
          <Input
            {...control}
            {...form.bind('name')}
            dir="auto"
            maxLength={MAX_LABEL_LENGTH}
            placeholder="e.g. Stripe billing"
            autoComplete="off"
          />
        )}
      </Field>
      <Field
        label="Source/Tag (Optional)"
        error={form.errors['source']}
        hint="If empty, it is detected from the first request."
      >
        {(control) => (
          <Input
            {...control}
            {...form.bind('source')}
            dir="auto"
            maxLength={MAX_LABEL_LENGTH}
            placeholder="e.g. Stripe, GitHub, Shopify"
            autoComplete="off"
          />
        )}
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={block !== undefined} busy={create.isPending}>
          {create.isPending ? 'Creating…' : 'Create Endpoint'}
        </Button>
      </div>
    </form>
  );
}

/** Empty fields are not sent. The server then uses no name and detects the source. */
function filled(field: 'name' | 'source', value: string): { name?: string; source?: string } {
  return value.trim() === '' ? {} : { [field]: value };
}

/** From the settings in this browser. Without them, the server uses its stored settings. */
function autosaveChoice(): { autoSaveEnabled?: boolean } {
  const settings = userSettingsPreference.read();
  return settings === null ? {} : { autoSaveEnabled: settings.autoSaveNewEndpoints };
}
