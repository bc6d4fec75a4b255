import type { z } from 'zod';
import { invalid } from './problem.ts';

const NOT_AN_OBJECT = 'Please send a JSON object with the fields of this call.';

/** Parses external input. Throws a validation failure with a sentence for each invalid field. */
export function parseInput(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) {
    const field = issue.path.length === 0 ? 'body' : issue.path.join('.');
    fields[field] ??= issue.path.length === 0 && issue.code === 'invalid_type' ? NOT_AN_OBJECT : issue.message;
  }
  throw invalid(fields);
}
