/** Numbers that cross the wire. Both sides read them here, so that neither guesses the other's. */

/** Bytes of a body's text that lists and live messages carry at most (contract 2). */
export const BODY_PREVIEW_BYTES = 16 * 1024;

/** Page size of lists without `?limit=`, and the most that one page holds (contract 4). */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 500;

/** How many requests an `init` message holds (contract 5). */
export const LIVE_INIT_SIZE = 100;

/** An unsaved request's id is `-(UNSAVED_ID_BASE + index)` (contract 2). */
export const UNSAVED_ID_BASE = 1_000_000;

/** Longest endpoint name and source, in characters (contract 4). */
export const MAX_LABEL_LENGTH = 100;

/** Usernames: 3 to 40 characters (contract 2); passwords: at least 6 (spec 5), at most what a person could mean. */
export const MIN_USERNAME_LENGTH = 3;
export const MAX_USERNAME_LENGTH = 40;
export const MIN_PASSWORD_LENGTH = 6;
export const MAX_PASSWORD_LENGTH = 1024;
/** RFC 5321 4.5.3.1.3: a path holds 256 octets, two of them angle brackets. */
export const MAX_EMAIL_LENGTH = 254;

/** Stored requests that one search call looks at: all of an endpoint that keeps as many as it does by default, and more. */
export const MAX_SCANNED_REQUESTS = 20_000;

/** Milliseconds that a client waits before it reconnects a live view (spec 4). */
export const LIVE_RECONNECT_MS = 3000;

/** Close codes of the live socket (contract 5). */
export const LIVE_CLOSE_SIGNED_OUT = 4401;
export const LIVE_CLOSE_ENDPOINT_GONE = 4404;
