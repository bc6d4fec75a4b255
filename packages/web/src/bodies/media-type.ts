/** A content type: the type in lower case, and its parameters by lower-case name (RFC 9110, section 8.3.1). */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const PARAMETER = /;\s*([^\s=;]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;

/** Parses a header such as `multipart/form-data; boundary="x"`. Invalid parameters are skipped. */
export function mediaType(header: string | null | undefined): MediaType {
  const text = header ?? '';
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare = ''] of text.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return { type: (text.split(';', 1)[0] ?? '').trim().toLowerCase(), parameters };
}
