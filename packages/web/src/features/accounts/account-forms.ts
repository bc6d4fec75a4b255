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
