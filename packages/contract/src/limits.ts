/** Limits that the server and its clients share. */

/** Maximum bytes of body text in lists and live messages. */
export const BODY_PREVIEW_BYTES = 16 * 1024;

/** Page size of lists without `?limit=`, and the maximum. */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 500;

/** Maximum number of requests that one call saves or deletes. */
export const MAX_CHANGED_REQUESTS = 1000;

/** Maximum number of requests in an `init` message. */
export const LIVE_INIT_SIZE = 100;

/** The id of an unsaved request is `-(UNSAVED_ID_BASE + index)`. */
export const UNSAVED_ID_BASE = 1_000_000;

/** Maximum length of an endpoint's name and source, in characters. */
export const MAX_LABEL_LENGTH = 100;

/** Lengths of usernames and passwords, in characters. */
export const MIN_USERNAME_LENGTH = 3;
export const MAX_USERNAME_LENGTH = 40;
export const MIN_PASSWORD_LENGTH = 6;
export const MAX_PASSWORD_LENGTH = 1024;
/** A path has 256 octets, two of them angle brackets (RFC 5321, section 4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/** Maximum bytes of the header lines of a request, with their separators (docs/api.md, "Capture"). */
export const MAX_HEADER_BYTES = 64 * 1024;
/** Maximum bytes of a request's target, header names and values, so that large headers leave 16 KiB for the target. */
export const MAX_HEAD_BYTES = MAX_HEADER_BYTES + 16 * 1024;
/** Bytes of a header line besides its name and value. */
export const HEADER_SEPARATOR_BYTES = ': \r\n'.length;
/** An upper bound of the number of headers of a captured request: each line takes at least its separators. */
export const MAX_HEADER_LINES = MAX_HEADER_BYTES / HEADER_SEPARATOR_BYTES;

/** Maximum number of stored requests that one search call examines. With the default limits, an endpoint stores fewer. */
export const MAX_SCANNED_REQUESTS = 20_000;

/** Milliseconds that a client waits before it reconnects. */
export const LIVE_RECONNECT_MS = 3000;

/** Close codes of the live socket: docs/api.md, "Live". */
export const LIVE_CLOSE_SIGNED_OUT = 4401;
export const LIVE_CLOSE_ENDPOINT_GONE = 4404;

/** A token (RFC 9110, section 5.6.2), such as a header name or a method. */
export const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;

/** A header's value, one character per byte and without control characters (RFC 9110, section 5.5, with obs-text). */
export const FIELD_VALUE = /^[\t -~\x80-\xff]*$/;

/** A method name (RFC 9110, section 9.1) of at most 40 characters. */
export const METHOD_NAME = /^[!#$%&'*+.^`|~\w-]{1,40}$/;
