/**
 * One process of the embedded deployment, under a clock that stands: what its directory and its clients hold outlives it.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { listen } from "@reprise/front";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { createRuntime, defineServer, tool } from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";
import { createManualClock } from "@reprise/testing";
import { onTestFinished } from "vitest";
import { dump } from "../../../../../test/support/lmdbDump.ts";

/** When golden dialogues are held. */
const goldenTime = Date.UTC(2026, 0, 2, 3, 5);
const secret = "a golden secret, which opens golden dialogues only";

/** Effects that happened, in order. */
export type Effects = string[];

/** A handler whose journal has a read, a step, an answer and state before its last question. */
function golden(effects: Effects) {
  return defineServer({
    name: "golden",
    version: "1.0.0",
    tools: ["once", "repeatable"].map((kind) =>
      tool({
        name: `refund_${kind}`,
        description: "Refunds after two questions",
        input: { type: "object", properties: { orderId: { type: "string" } } },
        effects: kind as "once" | "repeatable",
        async handler({ orderId }: { readonly orderId?: unknown }, ctx) {
          const order = await ctx.read("load order", async () => ({ id: orderId, total: 4990n }));
          if (!(await ctx.confirm(`Refund ${order.total}?`))) return "Kept.";
          ctx.state.set("tone", "kind");
          const at = await ctx.step("refund", () => {
            effects.push("refund");
            return new Date(0);
          });
          const { action } = await ctx.elicit("Where to?", { type: "object", properties: {} });
          return `${action}, ${ctx.state.get("tone") ?? "?"}, ${at.toISOString()}, ${order.total}`;
        },
      }),
    ),
  });
}

/** A running process. */
export interface Deployment {
  readonly url: string;
  /** What its directory holds. */
  held(): Promise<Record<string, string>>;
}

/** A directory that goes away with the test. */
export function freshDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "reprise-replay-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Serves the golden handlers on a directory.
 * @param afterMs how long after the golden dialogues were held
 */
export async function deploy(
  directory: string,
  effects: Effects,
  afterMs: number = 0,
): Promise<Deployment> {
  const { now, setTimer } = createManualClock(goldenTime + afterMs);
  const monotonicNow = (): number => now() - goldenTime + 1_000;
  const store = await openLmdbStore({
    directory,
    clock: { wallNow: now, monotonicNow, setTimer },
  });
  const clock = { now, monotonic: monotonicNow, after: setTimer };
  const runtime = createRuntime({
    server: golden(effects),
    store,
    shared: store.shared,
    sealer: createStateSealer({ keys: keysFromSecrets(secret) }),
    clock,
    rateLimit: "none",
  });
  const front = await listen({ runtime, clock, port: 0 });
  onTestFinished(() => front.close());
  return {
    url: front.url,
    async held() {
      const copy = path.join(directory, "copy");
      mkdirSync(copy);
      copyFileSync(path.join(directory, "reprise.mdb"), path.join(copy, "reprise.mdb"));
      return dump(copy);
    },
  };
}
