/** Programs in which a captured request can be written down, as a person knows them. The writers are loaded when one is asked for. */
export const SNIPPET_NAMES = {
  curl: 'cURL',
  fetch: 'fetch',
  httpie: 'HTTPie',
  python: 'Python',
  http: 'Raw HTTP',
} as const;
export type SnippetName = keyof typeof SNIPPET_NAMES;
