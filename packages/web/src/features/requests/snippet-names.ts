/** The snippet languages. The code that writes them is loaded on demand. */
export const SNIPPET_NAMES = {
  curl: 'cURL',
  fetch: 'fetch',
  httpie: 'HTTPie',
  python: 'Python',
  http: 'Raw HTTP',
} as const;
export type SnippetName = keyof typeof SNIPPET_NAMES;
