import { useMutation } from '@tanstack/react-query';
import { toast } from '../toasts/toast-store.ts';
import { client } from './client.ts';

/** The list itself changes by the live messages `saved` and `deleted`; callers that must not wait use `onSuccess`. */
export function useSaveRequest(uid: string) {
  return useMutation({
    mutationFn: (index: number) => client.call('saveRequest', { params: { uid }, body: { index } }),
    onSuccess: () => toast({ title: 'Request saved', description: 'The webhook request has been saved successfully.' }),
    onError: () =>
      toast({ title: 'Save failed', description: 'Failed to save the webhook request.', variant: 'destructive' }),
  });
}

export function useDeleteRequest(uid: string) {
  return useMutation({
    mutationFn: (id: number) => client.call('deleteRequest', { params: { uid, id } }),
    onError: () =>
      toast({ title: 'Delete failed', description: 'Failed to delete the webhook request.', variant: 'destructive' }),
  });
}
