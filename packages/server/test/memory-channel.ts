import type { Channel, ChannelEvents } from '../src/bus/node-bus.ts';

/** Texts that arrive at one node in place of one that was sent, in this order. */
export type Fault = (text: string, to: number) => readonly string[];

/** Connects nodes of one process, with faults. */
export class MemoryNetwork {
  readonly #nodes = new Map<number, ChannelEvents>();
  #opened = 0;
  #revived = 0;
  /** By default everything arrives once. */
  fault: Fault = (text) => [text];

  get revived(): number {
    return this.#revived;
  }

  /** The n-th call returns the channel of node n. */
  open(events: ChannelEvents): Channel {
    const name = this.#opened++;
    this.#nodes.set(name, events);
    queueMicrotask(() => events.onOpen());
    return {
      send: async (texts) => {
        for (const text of texts)
          for (const [to, node] of this.#nodes) for (const each of this.fault(text, to)) node.onText(each);
      },
      reconnect: () => {
        this.#revived += 1;
      },
      close: async () => void this.#nodes.delete(name),
    };
  }
}
