/**
 * A TCP proxy on loopback that does to a connection what a network does: cut it, go silent, delay it, throttle it, let
 * nobody in. Between clients and a front, or between a process and its Redis.
 *
 * 1. While it passes, bytes go on as they come, in order, in both directions; an end or reset on one side reaches the other.
 * 2. A silenced connection loses every byte of both directions from then on and is never closed by the proxy before `mend`,
 *    not even when the far end closes: neither end hears of it. Connections made later pass.
 * 3. `mend` ends what still hangs, with a reset: bytes were lost on it, and nothing could go on over it.
 * 4. Delay and throttle hold for connections that are there and for those that come; they keep the order.
 */
import { once } from "node:events";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** What happens to bytes under way. */
interface Weather {
  /** Each way. Default 0. */
  readonly delayMs?: number;
  /** Of each connection and direction. Default: no limit. */
  readonly bytesPerSecond?: number;
}

/** A running proxy. */
export interface FaultProxy {
  readonly port: number;
  /** Connections that both ends hold at this moment. */
  readonly connections: number;
  /** Silenced connections that the client's end has not given up. */
  readonly silent: number;
  /** Resets all connections; new ones are taken. */
  cut(): void;
  /** Lets no byte of the present connections through any more, and tells nobody. */
  silence(): void;
  /** Resets whoever comes, until `mend`. */
  refuse(): void;
  /** Delay or throttle, until `mend`. */
  blow(weather: Weather): void;
  /** Ends all faults. */
  mend(): void;
  close(): Promise<void>;
}

/** Most chunks that wait in one direction before the sender is held back. */
const mostQueued = 256;

/** Starts a proxy before `port` of loopback. */
export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const links = new Set<Link>();
  let weather: Weather = {};
  let isRefusing = false;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (isRefusing) {
      client.on("error", () => undefined);
      client.resetAndDestroy();
      return;
    }
    const link = new Link(client, dial({ port, host: "127.0.0.1", noDelay: true }), () => weather);
    links.add(link);
    link.onEnd = () => links.delete(link);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const resetAll = (which: (link: Link) => boolean = () => true): void => {
    for (const link of [...links].filter(which)) link.reset();
  };
  return {
    port: portOf(server),
    get connections() {
      return links.size;
    },
    get silent() {
      return [...links].filter((link) => link.isSilent && !link.isGivenUp).length;
    },
    cut: () => resetAll(),
    silence() {
      for (const link of links) link.isSilent = true;
    },
    refuse() {
      isRefusing = true;
    },
    blow(next) {
      weather = next;
    },
    mend() {
      weather = {};
      isRefusing = false;
      resetAll((link) => link.isSilent);
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      resetAll();
      await closed;
    },
  };
}

/** Two sockets that belong together. */
class Link {
  /** Invariant 2. */
  isSilent = false;
  /** The client's end has closed. */
  isGivenUp = false;
  onEnd: () => void = () => undefined;
  readonly #sockets: readonly [Socket, Socket];
  readonly #weather: () => Weather;

  constructor(client: Socket, target: Socket, weather: () => Weather) {
    this.#sockets = [client, target];
    this.#weather = weather;
    for (const event of ["end", "close"]) {
      client.once(event, () => {
        this.isGivenUp = true;
      });
    }
    for (const [from, to] of [[client, target] as const, [target, client] as const]) {
      from.on("error", () => undefined);
      from.once("close", () => {
        if (this.isSilent) return;
        this.reset();
      });
      this.#carry(from, to);
    }
  }

  /** Both ends get a reset. Idempotent. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.onEnd();
  }

  #carry(from: Socket, to: Socket): void {
    const queue: { readonly chunk: Buffer | undefined; readonly dueMs: number }[] = [];
    let isCarrying = false;
    const carry = async (): Promise<void> => {
      if (isCarrying) return;
      isCarrying = true;
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        const { chunk, dueMs } = item;
        const { bytesPerSecond } = this.#weather();
        const slowMs =
          bytesPerSecond === undefined ? 0 : ((chunk?.length ?? 0) / bytesPerSecond) * 1000;
        const waitMs = dueMs - performance.now() + slowMs;
        if (waitMs > 0) await pause(waitMs);
        if (from.isPaused() && queue.length < mostQueued) from.resume();
        if (this.isSilent || to.destroyed) continue;
        if (chunk === undefined) to.end();
        else to.write(chunk);
      }
      isCarrying = false;
    };
    const take = (chunk: Buffer | undefined): void => {
      if (this.isSilent) return;
      queue.push({ chunk, dueMs: performance.now() + (this.#weather().delayMs ?? 0) });
      if (queue.length >= mostQueued) from.pause();
      void carry();
    };
    from.on("data", take);
    from.once("end", () => take(undefined));
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy does not listen");
  return address.port;
}
