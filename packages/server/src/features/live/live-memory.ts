/** Bytes that live viewers may hold together, and those of one user; see `Share.resize`. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_BYTES_PER_USER = 24 * 1024 * 1024;
/** Bytes of each viewer that don't count: what an ordinary viewer needs it has, whoever else filled the rest. */
const FREE_BYTES = 128 * 1024;
/** Snapshots that are read at once: until it is here, nobody knows how large one is. */
const MOST_READS = 4;

/** The memory of this process that live viewers share: events that wait, an `init` on its way, and what sockets have not taken. */
export class LiveMemory {
  readonly #most: number;
  readonly #mostPerUser: number;
  readonly #users = new Map<number, number>();
  readonly #queue: (() => Promise<void>)[] = [];
  #taken = 0;
  #reads = 0;

  /** Both in bytes. */
  constructor(most = MOST_BYTES, mostPerUser = MOST_BYTES_PER_USER) {
    this.#most = most;
    this.#mostPerUser = mostPerUser;
  }

  /** Bytes that are counted now. */
  get taken(): number {
    return this.#taken;
  }

  /** What one more viewer of this user will hold: nothing yet. */
  share(userId: number): Share {
    return new Share(this, userId);
  }

  /**
   * Whether a viewer that holds `from` bytes may hold `to`: never more than is left then, in all and of its user's part. So those that
   * don't read leave as much as each of them holds to the next that comes.
   */
  fits(userId: number, from: number, to: number): boolean {
    const more = to - from;
    const leftOfUser = this.#mostPerUser - (this.#users.get(userId) ?? 0) - more;
    return more <= 0 || (to <= leftOfUser && to <= this.#most - this.#taken - more);
  }

  add(userId: number, more: number): void {
    this.#taken += more;
    const ofUser = (this.#users.get(userId) ?? 0) + more;
    if (ofUser === 0) this.#users.delete(userId);
    else this.#users.set(userId, ofUser);
  }

  /** Calls `read`, which does not reject, now or when others are done. */
  read(read: () => Promise<void>): void {
    if (this.#reads >= MOST_READS) this.#queue.push(read);
    else void this.#run(read);
  }

  async #run(first: () => Promise<void>): Promise<void> {
    this.#reads += 1;
    for (let read: typeof first | undefined = first; read !== undefined; read = this.#queue.shift()) await read();
    this.#reads -= 1;
  }
}

/** What one viewer holds of the memory of all. */
export class Share {
  readonly #memory: LiveMemory;
  readonly #userId: number;
  #counted = 0;
  #released = false;

  constructor(memory: LiveMemory, userId: number) {
    this.#memory = memory;
    this.#userId = userId;
  }

  /** Asks to hold this many bytes. False when there is no room; then nothing has changed. Less is always granted. */
  resize(bytes: number): boolean {
    const counted = Math.max(0, bytes - FREE_BYTES);
    if (!this.#memory.fits(this.#userId, this.#counted, counted)) return false;
    this.#set(counted);
    return true;
  }

  /** Counts what is held already, whether there is room or not. */
  note(bytes: number): void {
    this.#set(Math.max(0, bytes - FREE_BYTES));
  }

  /** The socket is gone, and with it all that was held for it. */
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
