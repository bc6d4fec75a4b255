import type { z } from 'zod';
import { accountOperations } from './operations/account-operations.ts';
import { billingOperations } from './operations/billing-operations.ts';
import { deliveryOperations } from './operations/delivery-operations.ts';
import { endpointOperations } from './operations/endpoint-operations.ts';
import { requestOperations } from './operations/request-operations.ts';
import { serviceOperations } from './operations/service-operations.ts';

/** Every operation of the API, by name. */
export const OPERATIONS = {
  ...accountOperations,
  ...endpointOperations,
  ...requestOperations,
  ...deliveryOperations,
  ...billingOperations,
  ...serviceOperations,
} as const;

type Table = typeof OPERATIONS;
export type OperationName = keyof Table;

/** Parameter names in a path template: `{uid}`. */
export type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameters<Rest>
  : never;

type BodyOf<O> = O extends { body: infer B extends z.ZodType } ? B : never;
type QueryOf<O> = O extends { query: infer Q extends z.ZodObject } ? Q : never;

/** The input of any operation, for code that handles all of them. */
export interface AnyInput {
  params?: Record<string, string | number>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
}

/** The input of an operation, as the caller passes it. */
export type OperationInput<Name extends OperationName> = AnyInput &
  ([PathParameters<Table[Name]['path']>] extends [never]
    ? unknown
    : { params: Record<PathParameters<Table[Name]['path']>, string | number> }) &
  ([BodyOf<Table[Name]>] extends [never] ? unknown : { body: z.input<BodyOf<Table[Name]>> }) &
  ([QueryOf<Table[Name]>] extends [never]
    ? unknown
    : { query?: Partial<Record<keyof z.input<QueryOf<Table[Name]>>, string | number | undefined>> });

/** The input of an operation after validation, as its handler receives it. */
export type ParsedBody<Name extends OperationName> = [BodyOf<Table[Name]>] extends [never]
  ? undefined
  : z.output<BodyOf<Table[Name]>>;
export type ParsedQuery<Name extends OperationName> = [QueryOf<Table[Name]>] extends [never]
  ? undefined
  : z.output<QueryOf<Table[Name]>>;

/** The response body of an operation. */
export type OperationAnswer<Name extends OperationName> = Table[Name] extends { answer: infer A }
  ? A extends z.ZodType
    ? z.output<A>
    : Uint8Array
  : undefined;

/**
 * Fills in a path template and percent-encodes each value.
 * @throws TypeError if a value is missing
 */
export function fillPath(template: string, params: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`${template} needs a value for ${name}.`);
    return encodeSegment(String(value));
  });
}

/**
 * URL parsers resolve `.` and `..` even if they are percent-encoded (WHATWG URL, section 4.4). Encoded twice, they stay a segment of
 * the path, and the server answers 404.
 */
function encodeSegment(value: string): string {
  return value === '.' || value === '..' ? value.replaceAll('.', '%252E') : encodeURIComponent(value);
}
