import { emailSchema } from '@creel/contract';
import { z } from 'zod';
import { errorMessage } from '../../../api/client.ts';
import { useServiceInfo } from '../../../api/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { fieldErrors, serverFieldErrors, useForm } from '../../../ui/form.ts';
import { useRequestPasswordReset } from '../account-queries.ts';

const FORM = z.object({ email: emailSchema });

interface ForgotPasswordProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Requests a password reset link. The response is the same whether or not the address is known. */
export function ForgotPassword({ open, onOpenChange }: ForgotPasswordProps) {
  const info = useServiceInfo();
  const isMailOff = info.data?.mail === false;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Reset your password"
      description="We email you a link to set a new password."
    >
      {isMailOff ? (
        <Notice tone="warn">
          Email is off on this server, so no link can be sent. Ask the administrator of the server.
        </Notice>
      ) : (
        <ResetRequestForm />
      )}
    </Dialog>
  );
}

function ResetRequestForm() {
  const request = useRequestPasswordReset();
  const form = useForm({
    initial: { email: '' },
    validate: (values) => fieldErrors(FORM, values),
    onValid: ({ email }) =>
      request.mutate(email, { onError: (error) => form.setErrors(serverFieldErrors(error, ['email'])) }),
  });
  if (request.isSuccess) return <Notice tone="good">{request.data.message}</Notice>;
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {request.error === null || form.errors['email'] !== undefined ? null : (
        <Notice tone="bad">{errorMessage(request.error, 'The link could not be sent. Please try again.')}</Notice>
      )}
      <Field label="Email" error={form.errors['email']}>
        {(control) => <Input {...control} {...form.bind('email')} type="email" autoComplete="email" />}
      </Field>
      <Button type="submit" variant="primary" busy={request.isPending} className="self-end">
        {request.isPending ? 'Sending…' : 'Send link'}
      </Button>
    </form>
  );
}
