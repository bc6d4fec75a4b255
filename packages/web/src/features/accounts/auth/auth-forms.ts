import { passwordSchema, registrationSchema } from '@creel/contract';
import { z } from 'zod';

/** The registration form. The confirmation must follow the password rule and equal the password. It is never sent. */
export const registerFormSchema = registrationSchema
  .extend({ confirmPassword: passwordSchema })
  // Reported even while other fields are invalid.
  .superRefine(checkRepeat);

/** The form for a new password and its confirmation. */
export const newPasswordFormSchema = z
  .object({ password: passwordSchema, confirmPassword: passwordSchema })
  .superRefine(checkRepeat);

function checkRepeat(form: { password: string; confirmPassword: string }, context: z.RefinementCtx): void {
  if (form.password === form.confirmPassword) return;
  context.addIssue({ code: 'custom', path: ['confirmPassword'], message: 'Passwords do not match' });
}
