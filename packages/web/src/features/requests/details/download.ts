/** Milliseconds after which the address of a download is given back; the browser has taken it by then. */
const RELEASE_MS = 60_000;

/** Hands bytes to the browser as a file. Always as octets: nothing that was captured is ever opened here (hardening S5). */
export function downloadBytes(bytes: Uint8Array<ArrayBuffer>, name: string, type = 'application/octet-stream'): void {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), RELEASE_MS);
}
