import { PROBLEMS } from '@creel/contract';
import type { ProblemCode } from '@creel/contract';

export interface ProblemDetails {
  /** The sentence for the person; without one, the code's own. */
  readonly sentence?: string;
  /** Sentences by field, for validation failures. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Whole seconds after which to try again. */
  readonly retryAfter?: number;
  /** Methods for `Allow`, for METHOD_NOT_ALLOWED. */
  readonly allow?: readonly string[];
  /** More members for the answer's body, where the contract names some. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Something that the caller is told. Rules throw it; api/problem-response.ts is the one place that turns it into an answer. */
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

/** A validation failure. With one bad field its sentence is the whole answer's (contract 1), and so is one that all of them share. */
export function invalid(fields: Readonly<Record<string, string>>): ProblemError {
  const [only, ...others] = new Set(Object.values(fields));
  return new ProblemError('VALIDATION_FAILED', {
    fields,
    ...(only !== undefined && others.length === 0 ? { sentence: only } : {}),
  });
}

/** Seconds after which a caller may come back for whom there was no room. */
const RETRY_SECONDS = 1;

/** Others fill the memory that there is. */
export function noRoom(): ProblemError {
  return new ProblemError('UNAVAILABLE', { retryAfter: RETRY_SECONDS });
}
