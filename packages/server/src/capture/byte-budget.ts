/** How many bytes of bodies may be in memory at once, over all connections: what comes in is bounded before it is counted lost. */
export class ByteBudget {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False when there is no room; nothing is taken then. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }

  get taken(): number {
    return this.#taken;
  }
}
