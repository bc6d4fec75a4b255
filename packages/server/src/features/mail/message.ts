/** A mail without addresses: a one-line subject, and the same content as text and HTML. */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A part of a mail: a paragraph or a link. */
export type Part = string | { readonly label: string; readonly url: string };

/** Creates both forms of a mail. All parts are treated as text, so that user input can't become markup or a header. */
export function compose(subject: string, parts: readonly Part[]): Message {
  const text = parts.map((part) => (typeof part === 'string' ? part : part.url)).join('\n\n');
  const html = parts.map((part) => `<p style="${PARAGRAPH}">${htmlOf(part)}</p>`).join('\n');
  return {
    subject: oneLine(subject),
    text: `${text}\n\n-- \nCreel\n`,
    html: `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(oneLine(subject))}</title></head>\n<body style="${BODY}">\n${html}\n</body></html>\n`,
  };
}

const BODY = 'margin:0;padding:24px;font:15px/1.5 system-ui,sans-serif;color:#1c1b19;background:#ffffff';
const PARAGRAPH = 'margin:0 0 16px;max-width:560px';

function htmlOf(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part);
  return `<a href="${escapeHtml(part.url)}">${escapeHtml(part.label)}</a>`;
}

/** Replaces characters that end a header or hide in one with spaces (RFC 5322 2.2). */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
