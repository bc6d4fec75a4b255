/** The nonce that the server put into the page, for libraries that add style elements; `undefined` under the development server. */
export function pageNonce(): string | undefined {
  // Browsers hide the attribute from scripts and keep the property.
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  return nonce === '' ? undefined : nonce;
}

/** Shares the nonce under the name where the part of Radix that holds the page still behind a dialog looks for it (get-nonce). */
export function shareNonce(): void {
  Reflect.set(globalThis, '__webpack_nonce__', pageNonce());
}
