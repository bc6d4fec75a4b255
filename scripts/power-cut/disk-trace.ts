/** A change of the disk, or the acknowledgment of a capture. */
export type Step =
  | { readonly kind: 'create'; readonly file: string }
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync-begins'; readonly file: string; readonly thread: string }
  | { readonly kind: 'sync-ends'; readonly file: string; readonly thread: string }
  | { readonly kind: 'remove'; readonly file: string }
  /** The server has written the first bytes of a `200` response with this index. */
  | { readonly kind: 'acknowledge'; readonly index: number };

/** Arguments for `strace` that produce the format parsed here. */
export const STRACE = [
  '-f',
  '-xx',
  '-s',
  '300000',
  '-e',
  'trace=openat,close,pwrite64,write,writev,ftruncate,fsync,fdatasync,unlink',
] as const;

/** `strace -f` splits a call into two lines if another thread makes a call in between. */
const UNFINISHED = / <unfinished \.\.\.>$/;
const RESUMED = /^<\.\.\. \w+ resumed>(.*)$/;
const LINE = /^(\d+)\s+(.*)$/;

/** Parses the trace of a process with its data in `folder`, line by line. Ignores failed calls. */
export class DiskTrace {
  readonly #folder: string;
  readonly #begun = new Map<string, string>();
  readonly #files = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(line: string): Step[] {
    const [, thread = '', text = ''] = LINE.exec(line) ?? [];
    if (UNFINISHED.test(text)) {
      this.#begun.set(thread, text.replace(UNFINISHED, ''));
      return this.#beginning(thread, text);
    }
    const rest = RESUMED.exec(text)?.[1];
    if (rest === undefined) return [...this.#beginning(thread, text), ...this.#end(thread, text)];
    const whole = (this.#begun.get(thread) ?? '') + rest;
    this.#begun.delete(thread);
    return this.#end(thread, whole);
  }

  /** Steps at the start of a call. A sync covers only earlier writes, and the first byte of a response is an acknowledgment. */
  #beginning(thread: string, call: string): Step[] {
    const sync = /^f(?:data)?sync\((\d+)/.exec(call);
    if (sync !== null) return this.#onFile(sync[1], (file) => ({ kind: 'sync-begins', file, thread }));
    if (!/^writev?\(/.test(call)) return [];
    const text = [...call.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)]
      .map(([, hex]) => bytesOf(hex).toString('latin1'))
      .join('');
    if (!text.startsWith('HTTP/1.1 200 ')) return [];
    const index = /\r\nx-creel-request: (\d+)\r\n/i.exec(text)?.[1];
    return index === undefined ? [] : [{ kind: 'acknowledge', index: Number(index) }];
  }

  #end(thread: string, call: string): Step[] {
    const [, name = '', args = '', result = ''] = /^(\w+)\((.*)\)\s*= (-?\d+)/s.exec(call) ?? [];
    if (result === '' || result.startsWith('-')) return [];
    switch (name) {
      case 'openat':
        return this.#open(args, result);
      case 'close':
        this.#files.delete(args);
        return [];
      case 'pwrite64':
        return this.#write(args, Number(result));
      case 'ftruncate': {
        const [descriptor, size] = args.split(', ');
        return this.#onFile(descriptor, (file) => ({ kind: 'truncate', file, size: Number(size) }));
      }
      case 'fsync':
      case 'fdatasync':
        return this.#onFile(args, (file) => ({ kind: 'sync-ends', file, thread }));
      case 'unlink': {
        const file = bytesOf(args).toString();
        return file.startsWith(this.#folder) ? [{ kind: 'remove', file }] : [];
      }
      default:
        return [];
    }
  }

  #open(args: string, descriptor: string): Step[] {
    const file = bytesOf(/"([^"]*)"/.exec(args)?.[1]).toString();
    this.#files.set(descriptor, file);
    return file.startsWith(this.#folder) && args.includes('O_CREAT') ? [{ kind: 'create', file }] : [];
  }

  #write(args: string, written: number): Step[] {
    const [, descriptor, hex, at] = /^(\d+), "([^"]*)", \d+, (\d+)$/.exec(args) ?? [];
    return this.#onFile(descriptor, (file) => {
      const bytes = bytesOf(hex).subarray(0, written);
      if (bytes.length !== written) throw new Error('The trace holds less of a write than was written.');
      return { kind: 'write', file, at: Number(at), bytes };
    });
  }

  #onFile(descriptor: string | undefined, step: (file: string) => Step): Step[] {
    const file = this.#files.get(descriptor ?? '');
    return file?.startsWith(this.#folder) ? [step(file)] : [];
  }
}

/** Decodes `\x2f\x74`. */
function bytesOf(hex = ''): Buffer {
  return Buffer.from(hex.replaceAll(/\\x|"/g, ''), 'hex');
}
