import { createTransport } from 'nodemailer';
import type { UserRecord } from '../../database/records.ts';
import { codeOf, messageOf } from '../../error-code.ts';
import { createHash } from 'node:crypto';
import type { Remote } from '../../database/remote.ts';
import type { Logger } from '../../log.ts';
import type { OutboxMail, mailQueries } from './queries.ts';

/** An email without addresses: a one-line subject, and the same content as text and HTML. */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A part of an email: a paragraph or a link. */
export type Part = string | { readonly label: string; readonly url: string };

interface AddressedMessage {
  readonly to: string;
  readonly message: Message;
}

type Composed = AddressedMessage | 'unwanted' | undefined;

/**
 * Makes the email of a feature's notice. `undefined` for notices of other features. `unwanted` if the user no longer
 * gets mail about it: settings and addresses may change after the notice is written.
 */
export type ComposeNotice = (content: unknown, user: UserRecord, publicUrl: string) => Composed | Promise<Composed>;

/** Creates both forms of an email. All parts are treated as text, so that user input can't become markup or a header. */
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

/** A time as text. In UTC, because the reader's time zone is unknown. */
export function moment(millis: number): string {
  return new Intl.DateTimeFormat('en-US', {
    dateStyle: 'long',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: 'UTC',
  }).format(millis);
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

/** Escapes text for content and for attributes in either kind of quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Milliseconds to wait for the mail server. */
const CONNECT_MS = 10_000;
const GREETING_MS = 10_000;
/**
 * Milliseconds to wait for a response. A user waits for most emails. Nobody waits for a notice, and a mail server that
 * accepts it later gets a copy (RFC 5321 4.5.3.2.6). With connecting and the greeting, it still ends within the claim.
 */
const SILENCE_MS = { user: 20_000, notice: 100_000 };
const MAX_MESSAGE_LENGTH = 300;
const UNREACHABLE = "The mail server can't be reached. The server's log has the details.";
const NO_TLS = 'The mail server does not offer TLS, and without it the password is not sent.';

type Rejection = Partial<Pick<MailRefused, 'isOfOneMail' | 'isPermanent'>>;

/**
 * The email was rejected. The message is the mail server's response, or that there is none; safe to show to users. The
 * `cause` is for the log only, because it has the address of the mail server.
 */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** Other emails may be accepted. */
  readonly isOfOneMail: boolean;
  /** The email will never be accepted (RFC 5321 4.2.1: a 5yz response). */
  readonly isPermanent: boolean;

  constructor(message: string, { isOfOneMail = false, isPermanent = false, ...rest }: Rejection & ErrorOptions = {}) {
    super(message, rest);
    this.isOfOneMail = isOfOneMail;
    this.isPermanent = isPermanent;
  }
}

export type Mailer = ReturnType<typeof createMailer>;

/** The only module that sends mail, over SMTP. `from` is an address, with or without a name. */
export function createMailer(smtpUrl: string, from: () => string, silenceMs = SILENCE_MS) {
  const url = new URL(smtpUrl);
  const secrets = passwordForms(url);
  const transportOf = (socketTimeout: number) =>
    createTransport({
      url: withSafeDefaults(url),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: GREETING_MS,
      socketTimeout,
      // Message content must never reference a file or URL to read from.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  const [forUsers, forNotices] = [transportOf(silenceMs.user), transportOf(silenceMs.notice)];
  return {
    /**
     * Sends an email to one address. Only notices have an `id`. Emails with the same one have the same Message-ID, so that
     * mail programs show copies once. @throws MailRefused
     */
    async send(to: string, message: Message, id?: string): Promise<void> {
      const sender = from();
      const messageId = id === undefined ? {} : { messageId: `<${id}@${domainOf(sender)}>` };
      const transport = id === undefined ? forUsers : forNotices;
      try {
        // Addresses as objects are not parsed, so that none can inject another.
        await transport.sendMail({ from: sender, to: { name: '', address: to }, ...messageId, ...message });
      } catch (error) {
        throw refusal(error, secrets);
      }
    },
  };
}

/** The domain of an address, with or without a name. */
function domainOf(address: string): string {
  return /@([^@>\s]+)>?\s*$/.exec(address)?.[1] ?? 'localhost';
}

/**
 * Forms of the password that a mail server could repeat, such as in `Command unrecognized: "AUTH PLAIN …"`. They are the
 * base64 of `AUTH PLAIN` (RFC 4616) and of `AUTH LOGIN`, then the configured and the decoded form.
 */
function passwordForms({ username, password }: URL): readonly string[] {
  if (password === '') return [];
  const [user, decoded] = [decodeURIComponent(username), decodeURIComponent(password)];
  const encoded = [`\0${user}\0${decoded}`, decoded].map((text) => Buffer.from(text).toString('base64'));
  return [...encoded, password, decoded];
}

/** The password is sent only over TLS, unless the operator sets `?requireTLS=false`. */
function withSafeDefaults(url: URL): string {
  const safe = new URL(url);
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const isSilent = url.protocol === 'smtps:' || url.username === '' || url.searchParams.has('requireTLS');
  if (!isLocal && !isSilent) safe.searchParams.set('requireTLS', 'true');
  return safe.href;
}

/** Commands whose rejection concerns one email. The rejection of a login or a sender concerns all emails and can be fixed. */
const COMMANDS_OF_ONE_MAIL: readonly unknown[] = ['RCPT TO', 'DATA'];

function rejectionOf(error: unknown): Rejection {
  if (!(error instanceof Error) || !('responseCode' in error) || !('command' in error)) return {};
  const isOfOneMail = COMMANDS_OF_ONE_MAIL.includes(error.command);
  return { isOfOneMail, isPermanent: isOfOneMail && Number(error.responseCode) >= 500 };
}

function refusal(error: unknown, secrets: readonly string[]): MailRefused {
  const response = responseOf(error);
  if (response !== undefined) return new MailRefused(withoutSecrets(response, secrets), rejectionOf(error));
  return new MailRefused(UNREACHABLE, { cause: new Error(withoutSecrets(messageOf(error), secrets)) });
}

/** The text in one line, with a limited length. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const message = text.replace(/\p{Cc}+/gu, ' ').trim();
  const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), message);
  return clean.length > MAX_MESSAGE_LENGTH ? `${clean.slice(0, MAX_MESSAGE_LENGTH)}…` : clean;
}

/** The response of the mail server; `undefined` without one. */
function responseOf(error: unknown): string | undefined {
  if (codeOf(error) === 'ETLS') return NO_TLS;
  return error instanceof Error && 'response' in error && typeof error.response === 'string'
    ? error.response
    : undefined;
}

/** A no-reply address at the host of the public URL. An IP address is in brackets (RFC 5321 4.1.3). */
export function defaultSender(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  const domain = /^[\d.]+$/.test(hostname)
    ? `[${hostname}]`
    : hostname.startsWith('[')
      ? `[IPv6:${hostname.slice(1, -1)}]`
      : hostname;
  return `Creel <no-reply@${domain}>`;
}

/** Maximum number of emails per run. */
const MAX_PER_RUN = 50;
const RETRY_MS = 60_000;
/** An email that was claimed this long ago is sent again, because its process died. */
const CLAIM_MS = 120_000;

interface OutboxOptions {
  readonly store: Remote<typeof mailQueries>;
  readonly mailer: Mailer;
  /** One of each feature that writes notices. */
  readonly composers: readonly ComposeNotice[];
  readonly publicUrl: () => string;
  readonly log: Logger;
}

/**
 * Sends the notices in the outbox, each at least once. An email is claimed before it is sent, so that no two processes
 * send it. The claim ends, so a crash does not lose it, and its copies have the same Message-ID. A temporary failure
 * releases the claim. True when there may be more.
 */
export async function sendOutbox(options: OutboxOptions, signal: AbortSignal): Promise<boolean> {
  const { store, mailer, log } = options;
  for (let sent = 0; sent < MAX_PER_RUN; sent++) {
    const mail = signal.aborted ? undefined : await store.claimMail(CLAIM_MS);
    if (mail === undefined) return false;
    try {
      const composed = await composeMail(mail, options);
      if (composed !== 'unwanted') await mailer.send(composed.to, composed.message, messageIdOf(mail));
    } catch (error) {
      log.warn({ err: error }, 'a notice could not be sent');
      const refused = error instanceof MailRefused ? error : undefined;
      if (refused?.isPermanent !== true) {
        await store.releaseMail(mail.id, RETRY_MS);
        if (refused?.isOfOneMail !== true) return false;
        continue;
      }
    }
    await store.removeMail(mail.id);
  }
  return true;
}

/** The same in each try, and different for the same email of another installation. */
function messageIdOf({ id, content, user }: OutboxMail): string {
  return createHash('sha256').update(`${id} ${user.createdAt} ${content}`).digest('hex').slice(0, 32);
}

/** @throws Error for a notice of a newer version, which a newer node sends later */
async function composeMail(
  { content, user }: OutboxMail,
  { composers, publicUrl }: OutboxOptions,
): Promise<AddressedMessage | 'unwanted'> {
  const notice: unknown = JSON.parse(content);
  for (const composeNotice of composers) {
    const composed = await composeNotice(notice, user, publicUrl());
    if (composed !== undefined) return composed;
  }
  throw new Error('This version does not know the notice.');
}
