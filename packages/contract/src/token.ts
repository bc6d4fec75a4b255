/** A token (RFC 9110, section 5.6.2), such as a header name or a method. */
export const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;

/** A method name (RFC 9110, section 9.1) of at most 40 characters. */
export const METHOD_NAME = /^[!#$%&'*+.^`|~\w-]{1,40}$/;
