import { ApiError } from '@creel/contract';
import type { z } from 'zod';

/** Messages by field name. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The first message for each field that a schema rejects; empty if the values are valid. */
export function fieldErrors(schema: z.ZodType, values: unknown): FieldErrors {
  const parsed = schema.safeParse(values);
  if (parsed.success) return {};
  const errors: Record<string, string> = {};
  for (const issue of parsed.error.issues) errors[String(issue.path[0] ?? '')] ??= issue.message;
  return errors;
}

/** The server's messages by field, for the fields of this form. Everything else belongs above the form. */
export function serverFieldErrors(error: unknown, fields: readonly string[]): FieldErrors {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(Object.entries(error.fields).filter(([field]) => fields.includes(field)));
}
