/** Characters without a look of their own that turn the direction of what follows (UAX #9, 2). */
const CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** Writes the controls of direction in a JSON text as the escapes that stand for them, so that they are seen and turn nothing. */
export function showBidiControls(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
