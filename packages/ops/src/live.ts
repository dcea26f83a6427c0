/**
 * One stream of changes for all open pages, over one bounded look at the store.
 *
 * 1. The store is looked at once in `pollMs`, only while somebody listens, and never twice at a time.
 * 2. A pulse is sent when it differs from the one before; what it holds are counts and the newest change, no value.
 * 3. A viewer who reads too slowly is cut off, and so is one whose session has ended: the browser comes back by itself.
 */
import type { ServerResponse } from "node:http";
import type { OpsConfig } from "./options.ts";
import type { Pulse } from "./wire.ts";

const HEARTBEAT_MS = 15_000;
/** What may wait to be sent to one viewer. */
const MOST_BUFFERED = 64 * 1024;

interface Viewer {
  readonly response: ServerResponse;
  /** Looked at before each sending. */
  readonly isSignedIn: () => boolean;
}

/** The stream of one dashboard. */
export class LivePulse {
  readonly #config: OpsConfig;
  readonly #viewers = new Set<Viewer>();
  #stopTimer: (() => void) | undefined;
  #last: { readonly text: string; readonly at: number } | undefined;
  #sentAt = 0;

  constructor(config: OpsConfig) {
    this.#config = config;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Takes over a response whose headers are not sent yet. False: there are too many. */
  add(
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    isSignedIn: () => boolean,
  ): boolean {
    if (this.#viewers.size >= this.#config.maxViewers) return false;
    const viewer: Viewer = { response, isSignedIn };
    response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      connection: "keep-alive",
    });
    response.write("retry: 3000\n\n");
    response.on("error", () => this.#remove(viewer));
    response.on("close", () => this.#remove(viewer));
    this.#viewers.add(viewer);
    if (this.#last !== undefined) response.write(this.#last.text);
    if (this.#stopTimer === undefined) this.#look();
    return true;
  }

  close(): void {
    for (const { response } of this.#viewers) response.end();
    this.#viewers.clear();
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    // Whoever comes next should see what is then, not what was.
    this.#last = undefined;
  }

  #look(): void {
    const { clock, pollMs } = this.#config;
    // Set before the look: a second viewer must not begin a second one.
    this.#stopTimer = () => undefined;
    void this.#pulse()
      .then((pulse) => this.#tell(pulse))
      .finally(() => {
        if (this.#viewers.size > 0) this.#stopTimer = clock.after(pollMs, () => this.#look());
        else this.#stopTimer = undefined;
      });
  }

  /** Never rejects: a store that is away is a pulse too. */
  async #pulse(): Promise<Pulse> {
    const { history, health, clock } = this.#config;
    try {
      const [counts, { runs }, { ok }] = await Promise.all([
        history.counts(),
        history.list({ limit: 1 }),
        health(),
      ]);
      const [first] = runs;
      const newest = first && { runId: first.runId, updatedAt: first.updatedAt };
      return { at: clock.now(), ok, counts, newest };
    } catch {
      return { at: clock.now(), ok: false, counts: undefined, newest: undefined };
    }
  }

  #tell(pulse: Pulse): void {
    const { at: _at, ...said } = pulse;
    const before = this.#last;
    const text = `event: pulse\ndata: ${JSON.stringify(said)}\n\n`;
    const now = this.#config.clock.monotonic();
    if (before?.text === text) {
      if (now - this.#sentAt >= HEARTBEAT_MS) this.#send(": still here\n\n", now);
      return;
    }
    this.#last = { text, at: now };
    this.#send(text, now);
  }

  #send(text: string, now: number): void {
    this.#sentAt = now;
    for (const viewer of [...this.#viewers]) {
      const { response, isSignedIn } = viewer;
      if (!isSignedIn() || response.writableLength > MOST_BUFFERED) {
        response.destroy();
        this.#remove(viewer);
      } else response.write(text);
    }
  }
}
