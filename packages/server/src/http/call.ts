import type {
  OPERATIONS,
  OperationAnswer,
  OperationName,
  ParsedBody,
  ParsedQuery,
  PathParameters,
} from '@creel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../app-context.ts';
import type { EndpointRecord, SessionRecord, UserRecord } from '../database/store.ts';
import type { LargeAnswer } from './large-answer.ts';

/** A user with a session. */
export interface SignedIn {
  readonly session: SessionRecord;
  readonly user: UserRecord;
}

type Table = typeof OPERATIONS;
type SignedInOf<Name extends OperationName> = Table[Name]['access'] extends 'user' ? SignedIn : undefined;
type EndpointOf<Name extends OperationName> =
  'uid' extends PathParameters<Table[Name]['path']>
    ? EndpointRecord
    : 'endpoint' extends keyof ParsedQuery<Name>
      ? EndpointRecord | undefined
      : undefined;

/** A call as its handler is given it: limited, authenticated, owned and parsed. */
export interface Call<Name extends OperationName> {
  readonly app: AppContext;
  readonly params: Readonly<Record<PathParameters<Table[Name]['path']>, string>>;
  readonly query: ParsedQuery<Name>;
  readonly body: ParsedBody<Name>;
  /** The bytes of a body that is signed; `undefined` for every other call. */
  readonly rawBody: Buffer | undefined;
  /** Who calls; `undefined` for public calls, which look for themselves if they care. */
  readonly signedIn: SignedInOf<Name>;
  /** The caller's own endpoint, for a path with `{uid}` or a query with `endpoint`. */
  readonly endpoint: EndpointOf<Name>;
  /** The peer, or whom a trusted proxy speaks for. */
  readonly clientAddress: string;
  /**
   * Counts stored bytes that the answer is made of, best before they are read, until it has ended.
   * @throws ProblemError UNAVAILABLE when other answers fill the memory that there is
   */
  readonly hold: (rawBytes: number) => void;
  /** Calls back when the answer has ended and its memory is free, whatever became of it. */
  readonly whenDone: (done: () => void) => void;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Does the call and returns the answer's body; throws `ProblemError` for everything that the caller is told. */
export type Handler<Name extends OperationName> = (call: Call<Name>) => Promise<OperationAnswer<Name> | LargeAnswer>;

/** Handlers of some operations. */
export type Handlers = { readonly [Name in OperationName]?: Handler<Name> };

/** A handler for every operation of the contract. */
export type AllHandlers = Required<Handlers>;
