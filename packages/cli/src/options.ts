import { parseQuery, unknownFieldsSentence } from '@creel/contract';
import type { Query } from '@creel/contract';
import { z } from 'zod';
import { optionHelp } from './command.ts';
import { serverOriginSchema } from './connection.ts';
import { visible } from './output.ts';
import { write } from './terminal.ts';
import type { Terminal } from './terminal.ts';

/** Arguments and options that several commands share. Build a command's own from `wholeNumber`, `flag` and zod. */

/** An integer of at most 15 digits. */
export function wholeNumber(min: 0 | 1) {
  const message = `must be a whole number from ${min} up.`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((number) => number >= min, message);
}

/** True when the option is present. It takes no value. */
export function flag(help: string) {
  return z.boolean().default(false).register(optionHelp, { help });
}

/** A uid, a capture URL or a name, as `findEndpoint` reads it. */
export const endpointArgument = z.string();
export const indexArgument = wholeNumber(0);

export const serverOption = serverOriginSchema.optional().register(optionHelp, {
  value: 'URL',
  help: 'server to use; default: CREEL_URL, then the server of your last login',
});

export const jsonOption = flag('print one JSON object per line, as in the API');

export const fromOption = wholeNumber(0)
  .optional()
  .register(optionHelp, { value: 'INDEX', help: 'begin with the stored requests from this index on' });

/** A query that can be read. Absent when it has no term. */
export const queryOption = z
  .string()
  .transform((text, context) => {
    if (text.trim() === '') return undefined;
    const parsed = parseQuery(text);
    if (parsed.ok) return text;
    context.addIssue(`is wrong at character ${parsed.position + 1}. ${parsed.sentence}`);
    return z.NEVER;
  })
  .optional()
  .register(optionHelp, {
    value: 'QUERY',
    help: 'only requests that match, such as "method:POST json.amount:>1000"',
  });

/** Says on standard error which words of a query look like a field and are searched as text. */
export async function noteUnknownFields(query: string | undefined, { stderr }: Terminal): Promise<void> {
  const parsed = parseQuery(query ?? '');
  const note = parsed.ok ? unknownFieldsSentence(parsed.unknownFields) : undefined;
  if (note !== undefined) await write(stderr, `${visible(note)}\n`);
}

const NEEDS_DELIVERY =
  'This query matches only captures with a delivery, so a new one rarely matches. ' +
  'With --from, it also looks at stored ones.\n';

/** Says on standard error that a query can't match a capture at the moment when it arrives. */
export async function noteLateMatches(query: string | undefined, { stderr }: Pick<Terminal, 'stderr'>): Promise<void> {
  const parsed = parseQuery(query ?? '');
  if (parsed.ok && needsDelivery(parsed.query)) await write(stderr, NEEDS_DELIVERY);
}

/** True if every match has a delivery, sent or planned. */
function needsDelivery(query: Query): boolean {
  switch (query.kind) {
    case 'and':
      return query.parts.some(needsDelivery);
    case 'or':
      return query.parts.every(needsDelivery);
    case 'is':
      return query.state !== 'saved' && query.state !== 'unsaved';
    default:
      return query.kind === 'status';
  }
}
