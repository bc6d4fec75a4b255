import { MAX_LABEL_LENGTH } from '@creel/contract';
import type { EndpointDetail } from '@creel/contract';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { serverFieldErrors, useForm } from '../../ui/form.ts';
import { describeFailure, useDescribeEndpoint } from './endpoint-mutations.ts';

/** Opens a dialog to change the name and the source of an endpoint. */
export function DescribeEndpointButton({ endpoint }: { readonly endpoint: EndpointDetail }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton
        label="Edit name and source"
        icon={<Pencil />}
        onClick={() => setOpen(true)}
        className="-mx-2 text-ink-3 hover:text-ink"
      />
      <Dialog open={open} onOpenChange={setOpen} title="Edit endpoint">
        <DescribeEndpointForm endpoint={endpoint} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function DescribeEndpointForm({
  endpoint,
  onDone,
}: {
  readonly endpoint: EndpointDetail;
  readonly onDone: () => void;
}) {
  const describe = useDescribeEndpoint(endpoint.uid);
  const form = useForm({
    initial: { name: endpoint.name ?? '', source: endpoint.source ?? '' },
    validate: () => ({}),
    onValid: (values) =>
      describe.mutate(values, {
        onSuccess: onDone,
        onError: (error) => form.setErrors(serverFieldErrors(error, ['name', 'source'])),
      }),
  });
  const isAtAField = Object.keys(form.errors).length > 0;
  const failure = isAtAField ? undefined : describeFailure(describe.error);
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {/* Screen readers don't announce the toast while the dialog is open. */}
      {failure === undefined ? null : <Notice tone="bad">{failure}</Notice>}
      <Field label="Endpoint Name (Optional)" error={form.errors['name']}>
        {(control) => (
          <Input {...control} {...form.bind('name')} dir="auto" maxLength={MAX_LABEL_LENGTH} autoComplete="off" />
        )}
      </Field>
      <Field
        label="Source/Tag (Optional)"
        error={form.errors['source']}
        hint="If empty, it is detected from the next request."
      >
        {(control) => (
          <Input {...control} {...form.bind('source')} dir="auto" maxLength={MAX_LABEL_LENGTH} autoComplete="off" />
        )}
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={describe.isPending}>
          {describe.isPending ? 'Saving...' : 'Save'}
        </Button>
      </div>
    </form>
  );
}
