/** Invisible characters that change the direction of the text after them (UAX #9, section 2). */
const CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** Replaces direction controls in a JSON text by their escapes, so that they are visible and have no effect. */
export function escapeBidiControls(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
