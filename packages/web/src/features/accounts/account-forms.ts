import { passwordSchema, registrationSchema } from '@creel/contract';
import { z } from 'zod';

/** The registration form. The confirmation must follow the password rule and equal the password. It is never sent. */
export const registerFormSchema = registrationSchema
  .extend({ confirmPassword: z.string() })
  // Reported even while other fields are invalid.
  .superRefine(checkRepeat);

/** The form for a new password and its confirmation. */
export const newPasswordFormSchema = z
  .object({ password: passwordSchema, confirmPassword: z.string() })
  .superRefine(checkRepeat);

/** A message appears at one field only, so the confirmation does not repeat that of the password. */
function checkRepeat(form: { password: string; confirmPassword: string }, context: z.RefinementCtx): void {
  const issueOf = (text: string) => passwordSchema.safeParse(text).error?.issues[0]?.message;
  const own = issueOf(form.confirmPassword);
  const differs = form.password === form.confirmPassword ? undefined : 'Passwords do not match';
  const message = own === issueOf(form.password) ? differs : (own ?? differs);
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['confirmPassword'], message });
}

/**
 * The parts of a failed call that decide the message: the status (0 if there was no response) and the server's text.
 */
interface Failure {
  readonly status: number;
  readonly sentence: string;
}

/** The server's message, else one that depends on the status. */
export function usernameFailure({ status, sentence }: Failure): string {
  if (sentence !== '') return sentence;
  if (status === 400) return 'Username already exists or is invalid';
  if (status === 401) return 'You must be logged in to change your username';
  return 'Failed to update username';
}

/** The server's message, else one that depends on the status. */
export function passwordFailure({ status, sentence }: Failure): string {
  if (sentence !== '') return sentence;
  if (status === 400) return 'Current password is incorrect';
  if (status === 401) return 'You must be logged in to change your password';
  return 'Failed to update password';
}
