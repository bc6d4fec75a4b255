/** Frames from a viewer between two pings, including control frames, and bytes of messages that count as a flood. */
const MAX_RECEIVED_FRAMES = 1000;
const MAX_RECEIVED_BYTES = 1024 * 1024;

/** Detects peers that are dead or that flood, from what a live connection observes between two pings. */
export class PeerHealth {
  #hasAnswered = true;
  #frames = 0;
  #bytes = 0;
  /** Whether data was waiting at the last ping, whether any did since, and whether the peer read some of it. */
  #waitedAtPing = false;
  #waited = false;
  #hasRead = false;

  /**
   * If data waited all the time, the peer must have read some of it, because it can send pongs without reading.
   * Otherwise a pong is enough, or data that began to wait only now and may delay the ping.
   */
  get isAlive(): boolean {
    return this.#waitedAtPing ? this.#hasRead : this.#hasAnswered || this.#waited;
  }

  get isFlooding(): boolean {
    return this.#frames > MAX_RECEIVED_FRAMES || this.#bytes > MAX_RECEIVED_BYTES;
  }

  /** A ping was sent, and the counts start again. */
  notePing(isWaiting: boolean): void {
    this.#hasAnswered = false;
    this.#frames = 0;
    this.#bytes = 0;
    this.#waitedAtPing = isWaiting;
    this.#waited = isWaiting;
    this.#hasRead = false;
  }

  notePong(): void {
    this.#hasAnswered = true;
  }

  /** The peer sent a frame. `bytes`: of a message; `undefined` if they are unknown. */
  noteFrame(bytes: number | undefined): void {
    this.#frames += 1;
    this.#bytes += bytes ?? MAX_RECEIVED_BYTES;
  }

  /** Data was sent, and the network has not accepted all of it. */
  noteWaiting(): void {
    this.#waited = true;
  }

  /** The network accepted data. */
  noteAccepted(): void {
    if (this.#waited) this.#hasRead = true;
  }
}
