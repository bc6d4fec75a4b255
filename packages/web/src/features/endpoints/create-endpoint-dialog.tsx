import { MAX_LABEL_LENGTH } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { endpointsQuery, useUser, userSettingsPreference } from '../../api/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice, UpgradeLink } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, FormButtons, useForm } from '../../ui/form.tsx';
import { useNow } from '../../ui/state.ts';
import { createBlock } from './endpoint-labels.ts';
import { isPlanLimit, useCreateEndpoint } from './endpoint-mutations.ts';

/** Both fields are optional. If the plan allows no further endpoint, the dialog says so without a call. */
export function CreateEndpointDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const user = useUser();
  const endpoints = useQuery(endpointsQuery);
  const now = useNow();
  const create = useCreateEndpoint();
  const block = user === null ? undefined : createBlock(user.subscriptionTier, endpoints.data, now);
  const form = useForm({
    initial: { name: '', source: '' },
    onValid: (values) =>
      create.mutate(
        // As set in this browser. Without a setting here, the server uses the stored one.
        { ...values, autoSaveEnabled: userSettingsPreference.read()?.autoSaveNewEndpoints },
        {
          onSuccess: ({ uid }) => {
            onClose();
            void navigate({ to: '/endpoints/$uid', params: { uid } });
          },
          // A toast says why, and leads to the plans.
          onError: (error) => (isPlanLimit(error) ? onClose() : form.fail(error, undefined)),
        },
      ),
  });
  return (
    <Dialog onClose={onClose} title="Create Endpoint" description="A new URL that captures every request to it.">
      <Form {...form.props} failure={form.failure}>
        {block === undefined ? null : (
          <Notice tone="warn">
            <span>{block}</span> {user?.subscriptionTier === 'PREMIUM' ? null : <UpgradeLink onClick={onClose} />}
          </Notice>
        )}
        <NameAndSource
          bind={form.bind}
          placeholders={{ name: 'e.g. Stripe billing', source: 'e.g. Stripe, GitHub, Shopify' }}
          sourceHint="If empty, it is detected from the first request."
        />
        <FormButtons
          disabled={block !== undefined}
          isPending={create.isPending}
          label="Create Endpoint"
          pendingLabel="Creating…"
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}

interface NameAndSourceProps {
  readonly bind: ReturnType<typeof useForm<{ readonly name: string; readonly source: string }>>['bind'];
  readonly placeholders?: { readonly name: string; readonly source: string };
  readonly sourceHint: string;
}

/** The fields of an endpoint that its owner chooses. */
export function NameAndSource({ bind, placeholders, sourceHint }: NameAndSourceProps) {
  const common = { dir: 'auto', maxLength: MAX_LABEL_LENGTH, autoComplete: 'off' } as const;
  return (
    <>
      <TextField label="Endpoint Name (Optional)" {...common} {...bind('name')} placeholder={placeholders?.name} />
      <TextField
        label="Source/Tag (Optional)"
        hint={sourceHint}
        {...common}
        {...bind('source')}
        placeholder={placeholders?.source}
      />
    </>
  );
}
