/**
 * One stream of changes for all open pages, over one bounded look at the store.
 *
 * 1. The store is looked at once in `pollMs`, only while somebody listens, and never twice at a time.
 * 2. A pulse is sent when it differs from the one before; what it holds are counts and the newest change, no value.
 * 3. A viewer who reads too slowly is cut off, and so is one whose session has ended: the browser comes back by itself. Sessions are
 *    looked at with the store; while they can't be, nothing is told but that.
 */
import type { ServerResponse } from "node:http";
import type { Sessions } from "./auth/sessions.ts";
import type { OpsConfig } from "./options.ts";
import type { Pulse } from "./wire.ts";

const HEARTBEAT_MS = 15_000;
/** What may wait to be sent to one viewer. */
const MOST_BUFFERED = 64 * 1024;

interface Viewer {
  readonly response: ServerResponse;
  readonly sessionId: string;
}

/** What one look found. */
interface Look {
  readonly pulse: Pulse;
  /** Which sessions stand; undefined while nobody knows. */
  readonly isOpen: ((sessionId: string) => boolean) | undefined;
}

/** The stream of one dashboard. */
export class LivePulse {
  readonly #config: OpsConfig;
  readonly #sessions: Sessions;
  readonly #viewers = new Set<Viewer>();
  #stopTimer: (() => void) | undefined;
  #last: { readonly text: string; readonly at: number } | undefined;
  #sentAt = 0;

  constructor(config: OpsConfig, sessions: Sessions) {
    this.#config = config;
    this.#sessions = sessions;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Takes over a response whose headers are not sent yet. False: there are too many. */
  add(
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    sessionId: string,
  ): boolean {
    if (this.#viewers.size >= this.#config.maxViewers) return false;
    const viewer: Viewer = { response, sessionId };
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
    void this.#lookedAt()
      .then(({ pulse, isOpen }) => {
        if (isOpen !== undefined) this.#dismiss(({ sessionId }) => !isOpen(sessionId));
        this.#tell(pulse);
      })
      .finally(() => {
        if (this.#viewers.size > 0) this.#stopTimer = clock.after(pollMs, () => this.#look());
        else this.#stopTimer = undefined;
      });
  }

  /** Never rejects: a store that is away is a pulse too. */
  async #lookedAt(): Promise<Look> {
    const { history, health, clock } = this.#config;
    try {
      const [counts, { runs }, { ok }, isOpen] = await Promise.all([
        history.counts(),
        history.list({ limit: 1 }),
        health(),
        this.#sessions.standing(),
      ]);
      const [first] = runs;
      const newest = first && { runId: first.runId, updatedAt: first.updatedAt };
      return { pulse: { at: clock.now(), ok, counts, newest }, isOpen };
    } catch {
      const pulse = { at: clock.now(), ok: false, counts: undefined, newest: undefined };
      return { pulse, isOpen: undefined };
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
    this.#dismiss(({ response }) => response.writableLength > MOST_BUFFERED);
    for (const { response } of this.#viewers) response.write(text);
  }

  #dismiss(isDone: (viewer: Viewer) => boolean): void {
    for (const viewer of [...this.#viewers].filter(isDone)) {
      viewer.response.destroy();
      this.#remove(viewer);
    }
  }
}
