/** The nonce of the page, for libraries that add style elements; `undefined` on the development server. */
function pageNonce(): string | undefined {
  // Browsers hide the attribute from scripts, but not the property.
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  return nonce === '' ? undefined : nonce;
}

/** Sets the nonce where get-nonce looks for it. Radix uses that package to lock scrolling behind a dialog. */
export function shareNonce(): void {
  Reflect.set(globalThis, '__webpack_nonce__', pageNonce());
}
