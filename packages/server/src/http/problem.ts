import { PROBLEMS } from '@creel/contract';
import type { ProblemCode } from '@creel/contract';

export interface ProblemDetails {
  /** The sentence for the user; defaults to the code's own. */
  readonly sentence?: string;
  /** Sentences by field, for validation failures. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Seconds to wait before the next attempt. */
  readonly retryAfter?: number;
  /** Methods for `Allow`, with METHOD_NOT_ALLOWED. */
  readonly allow?: readonly string[];
  /** Additional members of the response body. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** An error that the caller sees. Services throw it; http/problem-response.ts converts it into a response. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.sentence ?? PROBLEMS[code].sentence);
    this.code = code;
    this.details = details;
  }
}

/**
 * A validation failure. If all invalid fields have the same sentence, it is also the sentence of the whole response.
 */
export function invalid(fields: Readonly<Record<string, string>>): ProblemError {
  const [only, ...others] = new Set(Object.values(fields));
  return new ProblemError('VALIDATION_FAILED', {
    fields,
    ...(only !== undefined && others.length === 0 ? { sentence: only } : {}),
  });
}

/** Seconds to wait after memory ran out. */
const RETRY_SECONDS = 1;

/** Other requests use up the available memory. */
export function overloaded(): ProblemError {
  return new ProblemError('UNAVAILABLE', { retryAfter: RETRY_SECONDS });
}
