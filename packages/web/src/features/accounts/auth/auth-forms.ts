import { passwordSchema, registrationSchema } from '@creel/contract';
import { z } from 'zod';

/** The register form: the confirmation obeys the password's rule and has to equal it (spec 5). It is never sent. */
export const registerFormSchema = registrationSchema
  .extend({ confirmPassword: passwordSchema })
  // Said also while other fields are still wrong.
  .superRefine(checkRepeat);

/** A new password, twice. */
export const newPasswordFormSchema = z
  .object({ password: passwordSchema, confirmPassword: passwordSchema })
  .superRefine(checkRepeat);

function checkRepeat(form: { password: string; confirmPassword: string }, context: z.RefinementCtx): void {
  if (form.password === form.confirmPassword) return;
  context.addIssue({ code: 'custom', path: ['confirmPassword'], message: 'Passwords do not match' });
}
