import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useClearRequests, useDeleteEndpoint } from './endpoint-mutations.ts';

export function ClearDataButton({ uid }: { readonly uid: string }) {
  const [isAsking, setAsking] = useState(false);
  const clear = useClearRequests(uid);
  return (
    <>
      <Button size="sm" variant="ghost" busy={clear.isPending} onClick={() => setAsking(true)}>
        Clear Data
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Clear Request Data"
        description="This will delete all request data for this endpoint. The endpoint will remain active, but all request history will be removed."
        confirmLabel="Clear Data"
        onConfirm={() => clear.mutate()}
      />
    </>
  );
}

interface DeleteEndpointButtonProps {
  readonly uid: string;
  readonly onDeleted: () => void;
}

export function DeleteEndpointButton({ uid, onDeleted }: DeleteEndpointButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const remove = useDeleteEndpoint();
  return (
    <>
      <Button size="sm" variant="danger-ghost" busy={remove.isPending} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Delete Webhook Endpoint"
        description="This will permanently delete the endpoint and all its request data. This action cannot be undone."
        confirmLabel="Delete"
        onConfirm={() => remove.mutate(uid, { onSuccess: onDeleted })}
      />
    </>
  );
}
