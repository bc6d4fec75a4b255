import type { Step } from './disk-trace.ts';

type Change = Extract<Step, { kind: 'write' | 'truncate' }>;

/** Which unsynced changes survive a power cut. */
export const FATES = ['nothing', 'everything', 'some sectors'] as const;
export type Fate = (typeof FATES)[number];

const SECTOR_BYTES = 512;

/** A simulated disk that guarantees only synced data. */
export class CutDisk {
  readonly #safe = new Map<string, FileImage>();
  readonly #unsafe = new Map<string, Change[]>();
  /** Number of changes of a file that each running sync covers. */
  readonly #syncs = new Map<string, number>();
  /** A disk that `'lies'` reports syncs that it has not done. No server survives this, so the check must detect it. */
  readonly #honesty: 'honest' | 'lies';

  constructor(honesty: 'honest' | 'lies' = 'honest') {
    this.#honesty = honesty;
  }

  take(step: Step): void {
    switch (step.kind) {
      case 'create':
        this.#imageOf(step.file);
        break;
      case 'write':
      case 'truncate':
        this.#changesOf(step.file).push(step);
        break;
      case 'sync-begins':
        this.#syncs.set(`${step.thread} ${step.file}`, this.#changesOf(step.file).length);
        break;
      case 'sync-ends':
        if (this.#honesty === 'honest') this.#keep(step.file, this.#syncs.get(`${step.thread} ${step.file}`) ?? 0);
        break;
      case 'remove':
        this.#safe.delete(step.file);
        this.#unsafe.delete(step.file);
        break;
      case 'acknowledge':
    }
  }

  /** Returns the files after a power cut at this moment. `roll` returns random numbers in [0, 1). */
  cut(fate: Fate, roll: () => number): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    for (const file of new Set([...this.#safe.keys(), ...this.#unsafe.keys()])) {
      const image = new FileImage(this.#safe.get(file)?.content);
      for (const change of this.#unsafe.get(file) ?? [])
        for (const survivor of survivors(change, fate, roll)) image.apply(survivor);
      found.set(file, image.content);
    }
    return found;
  }

  #changesOf(file: string): Change[] {
    const known = this.#unsafe.get(file) ?? [];
    this.#unsafe.set(file, known);
    return known;
  }

  #imageOf(file: string): FileImage {
    const image = this.#safe.get(file) ?? new FileImage();
    this.#safe.set(file, image);
    return image;
  }

  #keep(file: string, count: number): void {
    const image = this.#imageOf(file);
    for (const change of this.#changesOf(file).splice(0, count)) image.apply(change);
    for (const [sync, covered] of this.#syncs)
      if (sync.endsWith(` ${file}`)) this.#syncs.set(sync, Math.max(0, covered - count));
  }
}

function survivors(change: Change, fate: Fate, roll: () => number): Change[] {
  if (fate === 'nothing') return [];
  if (fate === 'everything') return [change];
  if (change.kind === 'truncate') return roll() < 0.5 ? [change] : [];
  const parts: Change[] = [];
  for (let from = 0; from < change.bytes.length; from += SECTOR_BYTES) {
    const bytes = change.bytes.subarray(from, from + SECTOR_BYTES);
    if (roll() < 0.5) parts.push({ ...change, at: change.at + from, bytes });
  }
  return parts;
}

/** The bytes of a file. Changed in place, because a file has megabytes and thousands of changes. */
class FileImage {
  #bytes: Buffer;
  #size: number;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  get content(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  apply(change: Change): void {
    const size = change.kind === 'truncate' ? change.size : Math.max(this.#size, change.at + change.bytes.length);
    if (size > this.#bytes.length) this.#bytes = Buffer.concat([this.content], size * 2);
    else this.#bytes.fill(0, size, Math.max(size, this.#size));
    this.#size = size;
    if (change.kind === 'write') change.bytes.copy(this.#bytes, change.at);
  }
}
