/** Lets the browser ask the user before the page is closed or left for another one. Returns a function that ends this. */
export function askBeforeLeaving(): () => void {
  const onUnload = (unload: BeforeUnloadEvent): void => unload.preventDefault();
  addEventListener('beforeunload', onUnload);
  return () => removeEventListener('beforeunload', onUnload);
}
