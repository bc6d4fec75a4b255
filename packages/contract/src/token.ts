/** A token of RFC 9110 5.6.2: what names of headers and methods are made of. */
export const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;

/** What can be the name of a method, of whichever standard (RFC 9110 9.1); 40 characters at most. */
export const METHOD_NAME = /^[!#$%&'*+.^`|~\w-]{1,40}$/;
