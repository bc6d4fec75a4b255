/** Maximum bytes of all live viewers, and of one user; see `LiveMemory.roomOf`. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_PER_USER = 24 * 1024 * 1024;
/** Bytes per viewer that don't count, so that an ordinary viewer always has enough. */
const FREE_BYTES = 128 * 1024;
/** Maximum number of concurrent snapshot reads, because the size of a snapshot is unknown until it is read. */
const MAX_READS = 4;

/** The memory that live viewers share: waiting events, an `init` in progress, and data that sockets have not sent. */
export class LiveMemory {
  readonly #max: number;
  readonly #maxPerUser: number;
  readonly #users = new Map<number, number>();
  readonly #queue: (() => Promise<void>)[] = [];
  #taken = 0;
  #reads = 0;

  /** Both in bytes. */
  constructor(max = MAX_BYTES, maxPerUser = MAX_BYTES_PER_USER) {
    this.#max = max;
    this.#maxPerUser = maxPerUser;
  }

  /** Bytes in use. */
  get taken(): number {
    return this.#taken;
  }

  /** The share of one more viewer of this user; it starts at zero. */
  share(userId: number): Share {
    return new Share(this, userId);
  }

  /**
   * Maximum bytes that a viewer with `counted` bytes may grow to. They may not exceed what remains afterwards, in total
   * and for its user, so that viewers that don't read always leave memory for the next one.
   */
  roomOf(userId: number, counted: number): number {
    const left = Math.min(this.#maxPerUser - (this.#users.get(userId) ?? 0), this.#max - this.#taken);
    return Math.max(counted, Math.floor((left + counted) / 2));
  }

  add(userId: number, more: number): void {
    this.#taken += more;
    const ofUser = (this.#users.get(userId) ?? 0) + more;
    if (ofUser === 0) this.#users.delete(userId);
    else this.#users.set(userId, ofUser);
  }

  /** Calls `read`, which does not reject, now or after others have finished. */
  read(read: () => Promise<void>): void {
    if (this.#reads >= MAX_READS) this.#queue.push(read);
    else void this.#run(read);
  }

  async #run(first: () => Promise<void>): Promise<void> {
    this.#reads += 1;
    for (let read: typeof first | undefined = first; read !== undefined; read = this.#queue.shift()) await read();
    this.#reads -= 1;
  }
}

/** One viewer's part of the shared memory. */
export class Share {
  readonly #memory: LiveMemory;
  readonly #userId: number;
  #counted = 0;
  #released = false;

  constructor(memory: LiveMemory, userId: number) {
    this.#memory = memory;
    this.#userId = userId;
  }

  /** Maximum bytes that this viewer may hold now. */
  get room(): number {
    return FREE_BYTES + this.#memory.roomOf(this.#userId, this.#counted);
  }

  /** Counts the bytes that are held, even beyond the limit. */
  note(bytes: number): void {
    this.#set(Math.max(0, bytes - FREE_BYTES));
  }

  /** Frees everything after the socket was closed. */
  release(): void {
    this.#set(0);
    this.#released = true;
  }

  /** See `LiveMemory.read`. */
  read(read: () => Promise<void>): void {
    this.#memory.read(read);
  }

  #set(counted: number): void {
    if (this.#released || counted === this.#counted) return;
    this.#memory.add(this.#userId, counted - this.#counted);
    this.#counted = counted;
  }
}
