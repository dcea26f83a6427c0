import { type ToolDefinition, tool } from "@reprise/runtime";
import { expect, test } from "vitest";
import { settled, startHarness } from "./support/harness.ts";

const description = "d";
const forever = (): Promise<string> => new Promise(() => undefined);
const endless = (name: string, handler: () => Promise<string>): ToolDefinition =>
  tool({
    name,
    description,
    input: { type: "object", properties: { n: { type: "number" } } },
    idempotency: { key: (args) => JSON.stringify(args) },
    handler,
  });

test("4.2: runs that no handler of this release goes on with keep no other run from being swept", async () => {
  const h = startHarness({ tools: [endless("gone", forever)] });
  for (let n = 0; n < 70; n += 1) void h.call("gone", { args: { n } });
  let works = false;
  const tools = [endless("kept", () => (works ? Promise.resolve("done") : forever()))];
  const deployed = h.beside({ tools });
  void deployed.call("kept");
  await settled();
  works = true;
  h.store.kill();
  deployed.store.kill();
  const next = h.beside({ tools }, { sweep: true });
  for (let beat = 0; beat < 6; beat += 1) await next.advance(10_001);
  const runs = next.store.snapshot().runs;
  expect(runs.find((run) => run.origin.handler.name === "kept")?.head.status).toBe("completed");
  expect(runs.filter((run) => run.head.status === "running")).toHaveLength(70);
});
