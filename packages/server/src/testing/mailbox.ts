import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The mail as it was sent: headers, an empty line, the parts. */
  readonly raw: string;
  readonly headers: ReadonlyMap<string, string>;
  /** The plain part, decoded. */
  readonly text: string;
  /** The HTML part, decoded. */
  readonly html: string;
}

export interface Mailbox {
  /** `smtp://127.0.0.1:port`, for SMTP_URL. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Waits for the mail after those that were waited for already. */
  readonly next: () => Promise<ReceivedMail>;
  /** Mails to an address that contains this text are refused with it. */
  refuse: { readonly address: string; readonly words: string } | undefined;
  readonly close: () => Promise<void>;
}

const WAIT_MS = 10_000;

/** A real SMTP server that keeps what it is sent. */
export async function openMailbox(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  const waiting: (() => void)[] = [];
  let seen = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onRcptTo({ address }, _session, done) {
      const { refuse } = mailbox;
      if (refuse === undefined || !address.includes(refuse.address)) return done();
      done(Object.assign(new Error(refuse.words), { responseCode: 550 }));
    },
    onData(stream, session, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo.map((recipient) => recipient.address);
        mails.push(readMail(mailFrom === false ? '' : mailFrom.address, to, Buffer.concat(pieces).toString('utf8')));
        for (const wake of waiting.splice(0)) wake();
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const mailbox: Mailbox = {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refuse: undefined,
    async next() {
      const deadline = Date.now() + WAIT_MS;
      for (;;) {
        const mail = mails[seen];
        if (mail !== undefined) {
          seen += 1;
          return mail;
        }
        if (Date.now() > deadline) throw new Error(`No further mail came; there were ${mails.length}.`);
        await Promise.race([
          new Promise<void>((resolve) => waiting.push(resolve)),
          new Promise((resolve) => setTimeout(resolve, 100)),
        ]);
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailbox;
}

/** As much of RFC 5322 and MIME as our own mails need. */
function readMail(from: string, to: readonly string[], raw: string): ReceivedMail {
  const { headers, body } = splitHead(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1];
  const parts =
    boundary === undefined
      ? []
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => splitHead(part.trimStart()));
  const partOf = (type: string): string => {
    const part = parts.find((one) => one.headers.get('content-type')?.startsWith(type));
    return part === undefined ? '' : decode(part.body, part.headers.get('content-transfer-encoding') ?? '');
  };
  return { from, to, raw, headers, text: partOf('text/plain'), html: partOf('text/html') };
}

function splitHead(text: string): { headers: Map<string, string>; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { headers, body: rest.join('\r\n\r\n') };
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
