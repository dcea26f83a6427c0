/** A front that stops in order: its calls go on where their clients come back to, and nothing keeps it from stopping. */
import { defineServer, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { type Cluster, cluster } from "./support/instances.ts";
import { initialize, streamOf } from "./support/legacyClient.ts";

const yes = { action: "accept", content: { confirm: true } };

async function pass({ clock }: Cluster, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 250) {
    clock.advance(Math.min(250, left));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A tool that asks, works or both when it is let go. */
function heldServer() {
  const events: string[] = [];
  let release = (): void => undefined;
  let enter = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const server = defineServer({
    name: "held",
    version: "1.0.0",
    tools: [
      tool({
        name: "works_then_asks",
        description: "Works before it asks",
        async handler(_args, ctx) {
          events.push("began");
          enter();
          await released;
          if (!(await ctx.confirm("Go on?"))) return "Stopped.";
          await ctx.step("effect", () => events.push("effect"));
          return "Done.";
        },
      }),
      tool({
        name: "asks_then_works",
        description: "Works when the answer is there",
        async handler(_args, ctx) {
          if (!(await ctx.confirm("Go on?"))) return "Stopped.";
          events.push("worked");
          enter();
          await Promise.race([
            released,
            new Promise((resolve) => {
              ctx.signal.addEventListener("abort", resolve);
            }),
          ]);
          await ctx.step("effect", () => events.push("effect"));
          return "Done.";
        },
      }),
    ],
  });
  return { server, events, entered, release: () => release() };
}

describe("a front that stops", () => {
  test("sends the question of a call that was under way, closes its stream, and has stopped", async () => {
    const { server, events, entered, release } = heldServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(b.url);
    const calling = session.request(a.url, "tools/call", { name: "works_then_asks" });
    await entered;
    const closed = a.close();
    release();
    const stream = streamOf(await calling);
    await stream.next();
    const ask = await stream.next();
    expect(ask?.message?.method).toBe("elicitation/create");
    expect(await stream.rest()).toEqual([]);
    await closed;
    await session.answer(b.url, ask?.message?.id, yes);
    const rest = streamOf(await session.listen(b.url, ask?.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Done." }] } }]);
    expect(events).toEqual(["began", "began", "effect"]);
  });

  test("gives a call that it can't end to the front that its client comes back to", async () => {
    const { server, events, entered, release } = heldServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(b.url);
    const stream = streamOf(
      await session.request(a.url, "tools/call", { name: "asks_then_works" }),
    );
    await stream.next();
    const ask = await stream.next();
    await session.answer(b.url, ask?.message?.id, yes);
    await entered;
    const closed = Promise.all([a.runtime.close(), a.close()]);
    await pass(all, 5_000);
    await closed;
    release();
    const rest = streamOf(await session.listen(b.url, ask?.id));
    await pass(all, 1_000);
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Done." }] } }]);
    expect(events).toEqual(["worked", "worked", "effect"]);
  });
});
