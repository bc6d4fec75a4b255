/** Milliseconds after which an object URL is revoked. The browser has read it by then. */
const RELEASE_MS = 60_000;

/**
 * Downloads bytes or text as a file. By default as application/octet-stream, so that the browser does not open captured
 * content.
 */
export function download(parts: readonly BlobPart[], name: string, type = 'application/octet-stream'): void {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), RELEASE_MS);
}
