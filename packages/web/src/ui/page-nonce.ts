declare global {
  /** Read by the part of Radix that holds the page still behind a dialog, when it adds its style element. */
  var __webpack_nonce__: string | undefined;
}

/** The nonce that the server put into the page, for libraries that add style elements; `undefined` under the development server. */
export function pageNonce(): string | undefined {
  // Browsers hide the attribute from scripts and keep the property.
  const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');
  return meta === null || meta.nonce === '' ? undefined : meta.nonce;
}

export function shareNonce(): void {
  globalThis.__webpack_nonce__ = pageNonce();
}
