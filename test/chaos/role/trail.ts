/**
 * What a process of the chaos shop writes down of its own steps, for the judge: who entered which step's function when, how that
 * ended, and when the handler got the step's recorded result; and for how long the process stood still.
 *
 * Written synchronously, a line each, so that a process which is killed has written all that it did before. Times are those of
 * the machine's monotonic clock, which all processes share and no fault moves.
 */
import { appendFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import type { Context, ToolDefinition } from "reprise";

/** A line of a trail. */
export type TrailLine =
  | {
      readonly atMs: number;
      readonly pid: number;
      readonly tag: string;
      readonly step: string;
      /** `entered` its function, which `returned` or `threw`; `recorded`: the handler has its result. */
      readonly is: "entered" | "returned" | "threw" | "recorded";
    }
  | {
      readonly atMs: number;
      readonly pid: number;
      /** The process did nothing, since then. */
      readonly is: "stoodStill";
      readonly sinceMs: number;
    };

/** What every errand's tag looks like, wherever it stands. */
export const tagPattern: RegExp = /[a-z0-9]+x\d+x/;

const tickMs = 50;
/** A busy machine is late by some ticks all the time; this much is no rest any more. */
const stillMs = 200;

/** Milliseconds of the machine's monotonic clock. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

type OwnLine<Line = TrailLine> = Line extends TrailLine ? Omit<Line, "atMs" | "pid"> : never;

/** The trail of this process. */
export class Trail {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = path.join(folder, `${process.pid}-${Math.floor(machineMs())}.jsonl`);
    this.#watchForRests();
  }

  /** The tool, its steps written down. */
  followed(tool: ToolDefinition): ToolDefinition {
    return {
      ...tool,
      handler: (args, ctx) => {
        const tag = tagPattern.exec(JSON.stringify(args))?.[0];
        return tool.handler(args, tag === undefined ? ctx : this.#followedContext(ctx, tag));
      },
    };
  }

  #followedContext(ctx: Context, tag: string): Context {
    const step: Context["step"] = async (name, fn, options) => {
      const value = await ctx.step(
        name,
        async (given) => {
          this.#write({ tag, step: name, is: "entered" });
          try {
            const made = await fn(given);
            this.#write({ tag, step: name, is: "returned" });
            return made;
          } catch (error) {
            this.#write({ tag, step: name, is: "threw" });
            throw error;
          }
        },
        options,
      );
      this.#write({ tag, step: name, is: "recorded" });
      return value;
    };
    // Its members are getters that need the ctx that they belong to.
    return new Proxy(ctx, {
      get: (target, member) => (member === "step" ? step : Reflect.get(target, member, target)),
    });
  }

  #write(line: OwnLine): void {
    appendFileSync(
      this.#file,
      `${JSON.stringify({ ...line, atMs: machineMs(), pid: process.pid })}\n`,
    );
  }

  #watchForRests(): void {
    let seenMs = machineMs();
    setInterval(() => {
      const nowMs = machineMs();
      if (nowMs - seenMs > tickMs + stillMs) this.#write({ is: "stoodStill", sinceMs: seenMs });
      seenMs = nowMs;
    }, tickMs).unref();
  }
}
