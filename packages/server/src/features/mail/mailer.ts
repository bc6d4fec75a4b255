import { createTransport } from 'nodemailer';
import type { Message } from './message.ts';

/** A mail server that does not answer is given up; the person who waits is told. */
const CONNECT_MS = 10_000;
const GREETING_MS = 10_000;
const SILENCE_MS = 20_000;
const MOST_WORDS = 300;
const NO_TLS = 'The mail server does not offer TLS, and without it the password is not sent.';

/** The mail was not taken. `words` is what the mail server said, or why it could not be asked; fit to be shown to a person. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  readonly words: string;
  /** The mail server will not take it later, either (RFC 5321 4.2.1: its answer begins with a 5). */
  readonly forGood: boolean;

  constructor(words: string, forGood = false) {
    super(words);
    this.words = words;
    this.forGood = forGood;
  }
}

export interface Mailer {
  /** Hands a mail to the mail server. `to` is one address. @throws MailRefused */
  send(to: string, message: Message): Promise<void>;
}

/** The one place that sends mail, over SMTP. `from` is a name with an address, or an address. */
export function createMailer(smtpUrl: string, from: () => string): Mailer {
  const url = new URL(smtpUrl);
  const secrets = [url.password, decodeURIComponent(url.password)].filter((secret) => secret !== '');
  const transport = createTransport({
    url: withSafeDefaults(url),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    // A message is made of texts; nothing in it may name a file or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(to, message) {
      try {
        // Addresses as objects: they are not parsed, so that none can smuggle in another.
        await transport.sendMail({ from: from(), to: { name: '', address: to }, ...message });
      } catch (error) {
        throw new MailRefused(wordsOf(error, secrets), isForGood(error));
      }
    },
  };
}

/** A password goes to another machine only over TLS, unless the operator says `?requireTLS=false`. */
function withSafeDefaults(url: URL): string {
  const safe = new URL(url);
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const isSilent = url.protocol === 'smtps:' || url.username === '' || url.searchParams.has('requireTLS');
  if (!isLocal && !isSilent) safe.searchParams.set('requireTLS', 'true');
  return safe.href;
}

/** Of this mail alone: what is wrong with the sign-in (535) or the server concerns all of them, and may be mended. */
function isForGood(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error) || !('code' in error)) return false;
  return error.code === 'EENVELOPE' && Number(error.responseCode) >= 500;
}

function wordsOf(error: unknown, secrets: readonly string[]): string {
  const words = said(error)
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words);
  return clean.length > MOST_WORDS ? `${clean.slice(0, MOST_WORDS)}…` : clean;
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return 'The mail server could not be asked.';
  if ('code' in error && error.code === 'ETLS') return NO_TLS;
  if ('response' in error && typeof error.response === 'string') return error.response;
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return `The mail server could not be reached${code}: ${error.message}`;
}
