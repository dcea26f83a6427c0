/**
 * Whether Redis has room: for new runs, and for readiness to stay green.
 *
 * Called before a run is made, and by `health`.
 *
 * C1 New runs are refused while less than the reserve of `maxmemory` is left, so that the runs that exist have room to end.
 * C2 `health` is red from then on: before Redis itself refuses writes.
 * C3 Looking is one INFO a server and second, beside the call that caused it; only the first one is waited for.
 */
import { RepriseError } from "@reprise/errors";
import { mastersOf, type RedisClient } from "./connection.ts";
import { readInfo } from "./startChecks.ts";

const LOOK_AGAIN_MS = 1_000;
/** Share of `maxmemory` that is kept for runs that exist. */
const RESERVE = 0.1;

/** Room in one Redis or Cluster. */
export class Capacity {
  readonly #client: RedisClient;
  readonly #monotonicNow: () => number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #lack: string | undefined;
  #room: Room | undefined;

  constructor(client: RedisClient, monotonicNow: () => number) {
    this.#client = client;
    this.#monotonicNow = monotonicNow;
  }

  /** Throws STORE_FULL when there is no room for a new run. */
  async check(): Promise<void> {
    const isFirst = this.#lookedAt === Number.NEGATIVE_INFINITY;
    if (this.#monotonicNow() - this.#lookedAt >= LOOK_AGAIN_MS) {
      const looking = this.#look();
      if (isFirst) await looking;
      // What a look in the background finds wrong, the call itself meets too.
      else looking.catch(() => undefined);
    }
    if (this.#lack !== undefined) throw new RepriseError("STORE_FULL", this.#lack);
  }

  /** Why new runs are refused; undefined when they are not. Rejects when a server does not answer. */
  async lack(): Promise<string | undefined> {
    await this.#look();
    return this.#lack;
  }

  /** What the fullest server holds and may hold, as the last look found it; undefined where none has a limit. */
  get room(): Room | undefined {
    return this.#room;
  }

  #look(): Promise<void> {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #ask(): Promise<void> {
    const answers = await Promise.all(
      mastersOf(this.#client).map((server) => server.info("memory")),
    );
    this.#lookedAt = this.#monotonicNow();
    const rooms = answers.flatMap(roomOf);
    this.#room = rooms.toSorted((one, other) => shareOf(other) - shareOf(one))[0];
    this.#lack = this.#room && lackOf(this.#room);
  }
}

/** What one server holds, and may hold. */
interface Room {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

function roomOf(info: string): readonly Room[] {
  const facts = readInfo(info);
  const limitBytes = Number(facts.get("maxmemory"));
  return limitBytes > 0 ? [{ usedBytes: Number(facts.get("used_memory")), limitBytes }] : [];
}

const shareOf = ({ usedBytes, limitBytes }: Room): number => usedBytes / limitBytes;

function lackOf({ usedBytes, limitBytes }: Room): string | undefined {
  if (usedBytes < limitBytes * (1 - RESERVE)) return undefined;
  return `Redis holds ${usedBytes} of ${limitBytes} bytes; the last tenth is kept for runs that exist. Raise it: redis-cli CONFIG SET maxmemory`;
}
