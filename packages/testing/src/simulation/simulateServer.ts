/**
 * Plays an author's server as `simulate` plays random handlers: each seed is one call of a tool, with a client, processes, a store
 * and a network that do everything wrong, judged by the call without any trouble.
 *
 * Called by authors' tests. What the tool's steps and reads do outside is the author's fake, made anew for each seed; every function of
 * a step or read is a place where its process can die, before it, after it, and before its result is recorded.
 *
 * S1 The result, and what the fake says of the world outside, are those of the undisturbed call.
 * S2 No two live attempts record, every run ends, waits or needs attention, and nothing is left when all has expired (rules 2, 7, 10
 *    and 11 of `checker.ts`).
 * S3 A fake must answer without timers and without I/O: promises are all it may wait for, or nothing would go on.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { ServerDefinition } from "@reprise/runtime";
import { acceptedAs } from "../harness/reply.ts";
import type { Call, Fault, Reply } from "./calls.ts";
import { judgeLog } from "./checker.ts";
import { toldHappening } from "./history.ts";
import { type Draw, drawFrom } from "./random.ts";
import { told } from "./replies.ts";
import type { SeedViolation } from "./simulate.ts";
import { SimulatedFleet } from "./simulatedFleet.ts";
import { Violation } from "./violation.ts";

/** A server with its fakes. */
export interface ServedWorld {
  readonly server: ServerDefinition;
  /** What the world outside has seen, as data to compare: what was charged, which mails went out. Default: nothing. */
  readonly seen?: () => unknown;
}

/** What to play. */
export interface SimulateServerOptions {
  /** Makes the server and its fakes; called for each seed. */
  readonly open: () => ServedWorld;
  readonly tool: string;
  /** As the tool's schema leaves them. Default none. */
  readonly args?: JsonObject;
  /** The person's answers by ask key, as `Reply.answer` takes them; a key without one is declined. */
  readonly answers?: Readonly<Record<string, JsonValue>>;
  /** How many seeds. */
  readonly seeds: number;
  /** Default 1. */
  readonly firstSeed?: number;
}

/** Plays seeds one after the other. Rejects only when the undisturbed call does not come to an end. */
export async function simulateServer(
  options: SimulateServerOptions,
): Promise<{ readonly seeds: number; readonly violations: readonly SeedViolation[] }> {
  const { seeds, firstSeed = 1 } = options;
  if (!Number.isSafeInteger(seeds) || seeds < 1) {
    throw new RangeError(`seeds must be a whole number of 1 or more, not ${seeds}`);
  }
  const calm = await new Play(options, firstSeed, undefined).run();
  const violations: SeedViolation[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const play = new Play(options, seed, drawFrom(seed));
    try {
      const end = await play.run();
      for (const part of ["result", "seen"] as const) {
        if (!isDeepStrictEqual(end[part], calm[part])) {
          const [got, wanted] = [JSON.stringify(end[part]), JSON.stringify(calm[part])];
          throw new Violation(`${part}: ${got} instead of ${wanted}`);
        }
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      violations.push({ seed, message, story: `seed ${seed}: ${message}\n${play.history()}` });
    }
  }
  return { seeds, violations };
}

const MAX_MOVES = 60;
const MAX_TROUBLE = 6;
/** Codes that a good client repeats its request on. */
const repeated: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "INTERRUPTED", "IN_FLIGHT"]);

interface End {
  readonly result: JsonObject;
  readonly seen: unknown;
}

/** One call. */
class Play {
  readonly #options: SimulateServerOptions;
  readonly #draw: Draw | undefined;
  readonly #fleet: SimulatedFleet;
  readonly #world: ServedWorld;
  readonly #transcript: string[] = [];
  #trouble = MAX_TROUBLE;

  /** @param draw undefined: without trouble */
  constructor(options: SimulateServerOptions, seed: number, draw: Draw | undefined) {
    const { open, tool, args = {} } = options;
    this.#options = options;
    this.#draw = draw;
    this.#world = open();
    const idempotencyKey = `the one call of a simulation, seed ${seed}`;
    this.#fleet = new SimulatedFleet({
      programs: [{ version: "1", body: { op: "seq", nodes: [] } }],
      keyed: true,
      draw: draw ?? drawFrom(seed),
      seed,
      served: { server: this.#world.server, tool, args, idempotencyKey },
    });
  }

  async run(): Promise<End> {
    if (this.#draw === undefined) await this.#fleet.settle();
    const result = await this.#converse();
    await this.#fleet.judgeRest();
    judgeLog(this.#fleet.world, [], false);
    return { result, seen: this.#world.seen?.() };
  }

  /** For a person. */
  history(): string {
    const happened = this.#fleet.world.log.map((one) => `  ${toldHappening(one)}`);
    return ["conversation:", ...this.#transcript, "what happened:", ...happened].join("\n");
  }

  async #converse(): Promise<JsonObject> {
    let call: Call = { requestState: undefined, inputResponses: undefined };
    for (let move = 0; move < MAX_MOVES; move += 1) {
      for (const reply of await this.#send(call)) {
        this.#transcript.push(`  ${told(reply)}`);
        if (reply.kind === "complete") return reply.result;
        if (reply.kind === "question") {
          const { requestState } = reply;
          call = { requestState, inputResponses: this.#answers(reply.inputRequests) };
        }
        if (reply.kind === "error" && !repeated.has(reply.code)) {
          throw new Violation(`the call got ${reply.code}: ${JSON.stringify(reply.data)}`);
        }
      }
    }
    throw new Violation(`the call did not end within ${MAX_MOVES} requests`);
  }

  /** One request, or now and then two of it at once. */
  #send(call: Call): Promise<readonly Reply[]> {
    const draw = this.#draw;
    const troubled = draw !== undefined && this.#trouble > 0;
    this.#trouble -= 1;
    const sending = { call, version: "1", troubled };
    if (!troubled) return this.#fleet.send([sending]);
    const fault: Fault = {
      does: draw.pick(this.#fleet.faults),
      at: 1 + draw.below(draw.pick([3, 6, 12])),
      when: draw.pick(["before", "after"]),
    };
    const first = { ...sending, fault: draw.chance(80) ? fault : undefined };
    return this.#fleet.send(draw.chance(20) ? [first, sending] : [first]);
  }

  #answers(requests: Readonly<Record<string, JsonObject>>): JsonObject {
    const { answers = {} } = this.#options;
    const given = Object.entries(requests).map(([key, request]) => {
      const value = answers[key];
      const answer = value === undefined ? { action: "decline" } : acceptedAs(request, value);
      return [key, answer] as const;
    });
    return Object.fromEntries(given);
  }
}
