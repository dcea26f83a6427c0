/**
 * Several processes on one ring and one clock that a test moves: each has its own connection, ring and sealer.
 */
import {
  createStateSealer,
  joinKeyRing,
  type KeyRing,
  type KeyRingOptions,
  type StateSealer,
} from "@reprise/request-state";
import { createManualClock } from "@reprise/testing";
import { createMemoryKeyRing, type MemoryKeyRing } from "../../../../test/support/memoryKeyRing.ts";
import { binding, causeOf, NOW_MS } from "./fixtures.ts";

export const SECOND = 1000;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** One process that joined. */
export interface RingProcess {
  readonly ring: KeyRing;
  readonly sealer: StateSealer;
  readonly link: ReturnType<MemoryKeyRing["connect"]>;
  readonly log: { readonly level: string; readonly fields: object; readonly message: string }[];
  /** A state that expires a day from now. */
  seal(): string;
  /** How a state is judged: `opened`, or the cause of its refusal. */
  judge(token: string): Promise<string>;
}

/** A ring, its processes and their time. */
export interface RingWorld {
  readonly database: MemoryKeyRing;
  now(): number;
  /** Moves the wall clock of every process, and neither the database's time nor the passing of time. */
  skewWallClock(ms: number): void;
  join(owner: string, options?: Partial<KeyRingOptions>): Promise<RingProcess>;
  /** Lets time pass for everyone. */
  pass(ms: number): Promise<void>;
  /** Lets time pass while every process is stopped: no timer runs, then all that are due do. */
  stopFor(ms: number): void;
  /** What a promise gives within `ms`, or `"pending"`. */
  within<T>(ms: number, promise: Promise<T>): Promise<T | "pending">;
}

const STEP_MS = 100;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createRingWorld(): RingWorld {
  const clock = createManualClock(NOW_MS);
  let skew = 0;
  const database = createMemoryKeyRing(clock.now);

  const flush = async (): Promise<void> => {
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  const pass = async (ms: number): Promise<void> => {
    await flush();
    // Long stretches in long steps: each process looks once a step.
    const step = ms > DAY ? HOUR : ms > HOUR ? 60 * SECOND : ms > 60 * SECOND ? SECOND : STEP_MS;
    for (let left = ms; left > 0; left -= step) {
      clock.advance(Math.min(step, left));
      await flush();
    }
  };

  return {
    database,
    now: clock.now,
    skewWallClock: (ms) => {
      skew += ms;
    },
    pass,
    stopFor: (ms) => clock.advance(ms),
    async within<T>(ms: number, promise: Promise<T>) {
      let settled: { readonly value: T } | undefined;
      const watched = promise.then((value) => {
        settled = { value };
      });
      for (let left = ms; ; left -= STEP_MS) {
        await flush();
        if (settled !== undefined) return settled.value;
        if (left <= 0) return "pending";
        void watched;
        clock.advance(STEP_MS);
      }
    },
    async join(owner, options = {}) {
      const link = database.connect();
      const log: RingProcess["log"] = [];
      const line =
        (level: string) =>
        (fields: object, message: string): void => {
          log.push({ level, fields, message });
        };
      const ring = await joinKeyRing({
        store: link.store,
        clock: { now: () => clock.now() + skew, monotonic: clock.now, after: clock.setTimer },
        owner,
        logger: { info: line("info"), warn: line("warn"), error: line("error") },
        ...options,
      });
      const sealer = createStateSealer({ keys: ring });
      return {
        ring,
        sealer,
        link,
        log,
        seal: () => {
          const issuedAtMs = clock.now() + skew;
          const token = sealer.seal({
            payload: { owner },
            binding,
            issuedAtMs,
            expiresAtMs: issuedAtMs + DAY,
            confidential: false,
          });
          if (typeof token !== "string") throw new TypeError("a member of the ring seals at once");
          return token;
        },
        judge: async (token) => {
          const reply = await sealer.open({ token, binding, nowMs: clock.now() + skew });
          return causeOf(reply);
        },
      };
    },
  };
}
