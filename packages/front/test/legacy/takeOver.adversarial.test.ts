/** Take-overs that go wrong half way, come twice, or can't be: no call waits for ever. */
import { defineServer, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { type Cluster, cluster } from "./support/instances.ts";
import { initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const yes = { action: "accept", content: { confirm: true } };
const folder = { name: "delete_folder", arguments: { path: "build/" } };

/** Longer than the lease of a front, shorter than it takes until a record is looked at without a notice. */
async function untilDead({ clock }: Cluster): Promise<void> {
  for (let second = 0; second < 11; second++) {
    clock.advance(1_000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a call whose front died", () => {
  test("goes on at the next try when the store failed in the middle of its take-over", async () => {
    const { server, events } = watchedServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    await stream.next();
    const ask = await stream.next();
    a.die();
    await untilDead(all);
    const { read } = b.shared;
    b.shared.read = () => {
      b.shared.read = read;
      return Promise.reject(new Error("the store is away"));
    };
    expect(await session.answer(b.url, ask?.message?.id, yes)).not.toBe(202);
    const rest = streamOf(await session.listen(b.url, ask?.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("gets both of two answers that come at once to the front that takes it over", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", { name: "ask_two" }));
    await stream.next();
    const asks = [await stream.next(), await stream.next()];
    a.die();
    await untilDead(all);
    const answers = asks.map((ask) => session.answer(b.url, ask?.message?.id, yes));
    expect(await Promise.all(answers)).toEqual([202, 202]);
    const rest = streamOf(await session.listen(b.url, asks[1]?.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "true true" }] } }]);
  });

  test("goes on although its tool was switched off meanwhile: its run has begun", async () => {
    const { server, events } = watchedServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    await stream.next();
    const ask = await stream.next();
    a.die();
    await untilDead(all);
    await b.runtime.tools.disable("delete_folder");
    expect(await session.answer(b.url, ask?.message?.id, yes)).toBe(202);
    const rest = streamOf(await session.listen(b.url, ask?.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("ends with an error where its tool is no longer in the release", async () => {
    const { server, events } = watchedServer();
    const all = await cluster(server);
    const [a, old] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder, "gone"));
    await stream.next();
    const ask = await stream.next();
    a.die();
    old.die();
    await untilDead(all);
    const tools = server.tools?.filter(({ name }) => name !== "delete_folder") ?? [];
    const b = await all.another(defineServer({ name: "watched", version: "2.0.0", tools }));
    expect(await session.answer(b.url, ask?.message?.id, yes)).toBe(202);
    const rest = streamOf(await session.listen(b.url, ask?.id));
    expect(await rest.rest()).toMatchObject([{ id: "gone", error: { code: -32602 } }]);
    expect(events).not.toContain("deleted");
  });
});

test("a repeatable handler that waits for an answer cleans up when its call is cancelled", async () => {
  const events: string[] = [];
  const asking = tool({
    name: "look",
    description: "Asks before it looks",
    annotations: { readOnlyHint: true },
    async handler(_args, ctx) {
      try {
        return String(await ctx.confirm("Look?"));
      } finally {
        events.push("cleaned up");
      }
    },
  });
  const all = await cluster(defineServer({ name: "looks", version: "1.0.0", tools: [asking] }));
  const [a, b] = all.instances;
  const session = await initialize(a.url);
  const stream = streamOf(await session.request(a.url, "tools/call", { name: "look" }, 5));
  await stream.message();
  await session.send(b.url, {
    ...{ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } },
  });
  expect(await stream.rest()).toMatchObject([{ method: "notifications/cancelled" }]);
  await expect.poll(() => events).toEqual(["cleaned up"]);
});
