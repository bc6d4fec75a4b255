import { z } from 'zod';

/**
 * Every problem that the server reports, with its status and the default of its sentence. Clients decide on the code,
 * never on the sentence.
 */
export const PROBLEMS = {
  VALIDATION_FAILED: { status: 400, sentence: 'Some of what was sent is not valid.' },
  INVALID_QUERY: { status: 400, sentence: "The query can't be read." },
  MALFORMED_JSON: { status: 400, sentence: 'The body is not valid JSON.' },
  LINK_INVALID: { status: 400, sentence: 'This link is no longer valid. Please ask for a new one.' },
  ALREADY_ON_FREE: { status: 400, sentence: 'Already on Free plan' },
  NO_SUBSCRIPTION: { status: 400, sentence: 'There is no subscription yet. Please choose a plan first.' },
  INVALID_SIGNATURE: { status: 400, sentence: 'The signature of this event is not valid.' },
  BAD_REQUEST: { status: 400, sentence: 'The request is not valid HTTP.' },
  NOT_SIGNED_IN: { status: 401, sentence: 'Please log in first.' },
  INVALID_CREDENTIALS: { status: 401, sentence: 'Invalid username or password' },
  IDENTITY_NOT_PROVEN: {
    status: 401,
    sentence: 'The login provider did not confirm this account. Please try again.',
  },
  PAYMENT_FAILED: { status: 402, sentence: 'The payment failed. Your plan has not changed. Please try another card.' },
  SIGN_IN_AGAIN: { status: 403, sentence: 'This needs a recent login. Please log out and log in again.' },
  CROSS_ORIGIN: { status: 403, sentence: 'Calls from another origin are not allowed.' },
  PLAN_LIMIT: { status: 403, sentence: 'Your plan does not allow this.' },
  SAVED_LIMIT: {
    status: 403,
    sentence: 'This endpoint has reached its maximum of saved requests. Please delete some first.',
  },
  TARGET_NOT_ALLOWED: {
    status: 403,
    sentence: 'This destination is not allowed. Its address is not on the public internet.',
  },
  TOO_MANY_DESTINATIONS: {
    status: 403,
    sentence: 'An endpoint can have at most 5 destinations. Please delete one first.',
  },
  NOT_FOUND: { status: 404, sentence: 'There is nothing at this address.' },
  ENDPOINT_NOT_FOUND: { status: 404, sentence: 'This endpoint does not exist.' },
  REQUEST_NOT_FOUND: { status: 404, sentence: 'This request does not exist.' },
  DESTINATION_NOT_FOUND: { status: 404, sentence: 'This destination does not exist.' },
  DELIVERY_NOT_FOUND: { status: 404, sentence: 'This delivery does not exist.' },
  CHECKOUT_NOT_FOUND: { status: 404, sentence: 'This checkout does not exist.' },
  METHOD_NOT_ALLOWED: { status: 405, sentence: 'This URL does not accept this method.' },
  REQUEST_TIMEOUT: { status: 408, sentence: 'The client took too long to send the request.' },
  PASSWORD_FIRST: {
    status: 409,
    sentence:
      'An account with this email address exists already. Please log in with your password first and confirm the address in your profile.',
  },
  ALREADY_SUBSCRIBED: {
    status: 409,
    sentence: 'You already have a subscription. Please reload the page and change its plan.',
  },
  CHECKOUT_CLOSED: { status: 409, sentence: 'This checkout is already paid or expired. Please start again.' },
  ACTION_NOT_POSSIBLE: { status: 409, sentence: 'The current state of the subscription does not allow this.' },
  DELIVERY_NOT_RETRYABLE: { status: 409, sentence: "This delivery can't be sent again." },
  ENDPOINT_EXPIRED: { status: 410, sentence: 'This endpoint has expired.' },
  BODY_TOO_LARGE: { status: 413, sentence: 'The body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, sentence: 'Please send JSON with the content type application/json.' },
  UPGRADE_REQUIRED: { status: 426, sentence: 'This URL accepts only WebSocket connections.' },
  RATE_LIMITED: { status: 429, sentence: 'Too many requests. Please try again later.' },
  HEADERS_TOO_LARGE: { status: 431, sentence: 'The header section is over 64 KiB.' },
  INTERNAL: { status: 500, sentence: 'Something went wrong on our side. Please try again.' },
  BILLING_OFF: { status: 501, sentence: 'Billing is not set up on this server.' },
  MAIL_OFF: { status: 501, sentence: 'Email is off on this server.' },
  REPLAY_FAILED: { status: 502, sentence: 'The destination could not be reached.' },
  MAIL_FAILED: { status: 502, sentence: 'Failed to send test email. Please check SMTP server settings.' },
  BILLING_FAILED: { status: 502, sentence: 'The payment service could not be reached. Please try again.' },
  PORTAL_NOT_CONFIGURED: {
    status: 503,
    sentence:
      'The billing portal is not configured yet. The operator of this server has to configure it at the payment service.',
  },
  CAPTURE_UNAVAILABLE: { status: 503, sentence: 'The request could not be stored. Please send it again.' },
  UNAVAILABLE: { status: 503, sentence: 'The server is busy. Please try again in a moment.' },
} as const satisfies Record<string, { status: number; sentence: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** The body of every error response: docs/api.md, "Errors". `error` and `message` are the same sentence. */
export const problemSchema = z.object({
  error: z.string(),
  message: z.string(),
  code: z.string(),
  fields: z.record(z.string(), z.string()).optional(),
  /** INVALID_QUERY: start of the invalid term, in UTF-16 units from 0. */
  position: z.int().optional(),
  /** MAIL_FAILED of a test email. */
  success: z.literal(false).optional(),
  /** INTERNAL: the same id is in the server's log. */
  errorId: z.string().optional(),
});
export type Problem = z.infer<typeof problemSchema>;
