import { codeOf } from '../../error-code.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Refusal } from '../../http/problem.ts';

/** The target did not respond. The sentence explains why to the user. */
export class ReplayFailure extends ProblemError {
  constructor(sentence: string) {
    super('REPLAY_FAILED', { sentence });
  }
}

/** Explanations of error codes of the system, TLS and the HTTP parser. */
const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The destination refused the connection. Is something listening on that port?',
  ECONNRESET: 'The destination closed the connection without an answer.',
  EPIPE: 'The destination closed the connection without an answer.',
  ETIMEDOUT: 'The destination could not be reached in time.',
  EHOSTUNREACH: 'The server has no route to the destination.',
  ENETUNREACH: 'The server has no route to the destination.',
  EADDRNOTAVAIL: 'The server has no route to the destination.',
  EACCES: 'The system does not allow a connection to the destination.',
  EPERM: 'The system does not allow a connection to the destination.',
  SWITCHED_PROTOCOL: 'The destination switched to another protocol without a request.',
  TOO_MANY_INTERIM: 'The destination sent too many interim responses.',
  HPE_HEADER_OVERFLOW: 'The destination answered with more than 64 KiB of headers.',
  DEPTH_ZERO_SELF_SIGNED_CERT: "The destination's certificate is self-signed, so it is not trusted.",
  SELF_SIGNED_CERT_IN_CHAIN:
    "The destination's certificate chain ends in a self-signed certificate that is not trusted.",
  UNABLE_TO_GET_ISSUER_CERT: "The destination's certificate is not signed by a trusted authority.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The destination's certificate is not signed by a trusted authority.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The destination's certificate is not signed by a trusted authority.",
  CERT_HAS_EXPIRED: "The destination's certificate has expired.",
  CERT_NOT_YET_VALID: "The destination's certificate is not valid yet.",
  CERT_REVOKED: "The destination's certificate was revoked.",
  // Node has no code for the reasons of OpenSSL's security levels.
  UNSPECIFIED: "The destination's certificate is not secure enough. Its key or its signature may be too weak.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The destination's certificate is for another name.",
};

/** The reason if the target speaks TLS and ends the handshake with an alert. */
const REJECTED_TLS =
  'The destination rejected the TLS connection. It may require a client certificate, another version of TLS or another name.';

/** Converts any error into a failure with an explanation. */
export function failureOf(error: unknown): ReplayFailure {
  const code = firstCode(error);
  const known = SENTENCES[code];
  if (known !== undefined) return new ReplayFailure(known);
  if (code.startsWith('HPE_')) return new ReplayFailure('The destination answered with something that is not HTTP.');
  // The code may say only EPROTO.
  if (error instanceof Error && error.message.includes('SSL alert number')) return new ReplayFailure(REJECTED_TLS);
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO')
    return new ReplayFailure('The destination does not answer with TLS. Does its port use http?');
  return new ReplayFailure(`The destination could not be reached${code === '' ? '' : ` (${code})`}.`);
}

/** The code of an error; of several attempts at different addresses, the first one's. */
function firstCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return firstCode(error.errors[0]);
  return codeOf(error) ?? '';
}

/** An error of the replay thread: one that the caller sees, or an unexpected one. */
export type ThreadFailure = Refusal | { readonly code: undefined; readonly error: unknown };

const THREAD_ENDED =
  'The server could not finish this request, because the thread that sends it ended. Please try again.';

/** Carries errors out of the replay thread. */
export const REPLAY_ERRORS = {
  encode: (error: unknown): ThreadFailure =>
    error instanceof ProblemError ? error.refusal : { code: undefined, error },
  decode: (failure: ThreadFailure): unknown =>
    failure.code === undefined ? failure.error : new ProblemError(failure.code, failure),
  ended: (): Error => new ProblemError('INTERNAL', { sentence: THREAD_ENDED }),
};
