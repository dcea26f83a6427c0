/** One call over many fronts and much time; what its wire looks like, and how often its handler runs. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { cluster } from "./support/instances.ts";
import { initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";
import { storeKinds } from "./support/stores.ts";

const yes = { action: "accept", content: { confirm: true } };
const folder = { name: "delete_folder", arguments: { path: "notes" } };
const minuteMs = 60_000;

const golden = (name: string): Promise<string> =>
  readFile(new URL(`golden/${name}`, import.meta.url), "utf8");

describe.each(storeKinds())(
  "a session that began on A, with a call on B that dies, answered on C after 20 minutes, in %s",
  (_name, kind) => {
    test("completes on C, the effect happens once, and the question was asked once", async () => {
      const { server, events } = watchedServer();
      const all = await cluster(server, { kind });
      const [a, b] = all.instances;
      const c = await all.another();
      const session = await initialize(a.url);
      const opened = streamOf(await session.request(b.url, "tools/call", folder, "refund-1"));
      await opened.next();
      const ask = await opened.next();
      await all.pass(10 * minuteMs, 5_000);
      b.die();
      await all.pass(10 * minuteMs, 5_000);
      expect(await session.answer(c.url, ask?.message?.id, yes)).toBe(202);
      const rest = streamOf(await session.listen(c.url, ask?.id));
      expect(await rest.rest()).toMatchObject([
        { id: "refund-1", result: { content: [{ text: "Deleted." }] } },
      ]);
      expect(events.filter((event) => event === "deleted")).toHaveLength(1);
    });

    test("completes where nothing was read in between: the whole stream is still there", async () => {
      const { server, events } = watchedServer();
      const all = await cluster(server, { kind });
      const [a, b] = all.instances;
      const session = await initialize(a.url);
      const opened = streamOf(await session.request(b.url, "tools/call", folder));
      const opening = await opened.next();
      await all.pass(20 * minuteMs, 5_000);
      b.die();
      const c = await all.another();
      const again = streamOf(await session.listen(c.url, opening?.id));
      const ask = await again.message();
      await session.answer(a.url, ask.id, yes);
      await all.pass(minuteMs, 1_000);
      expect(await again.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
      expect(events.filter((event) => event === "deleted")).toHaveLength(1);
    });
  },
);

test("the lines before a question run once, however long the person thinks", async () => {
  const { server, events } = watchedServer();
  const all = await cluster(server);
  const [a, b] = all.instances;
  const session = await initialize(a.url);
  const stream = streamOf(await session.request(a.url, "tools/call", folder));
  const ask = await stream.message();
  await all.pass(20 * minuteMs, 5_000);
  await session.answer(b.url, ask.id, yes);
  await stream.rest();
  expect(events).toEqual(["asks", "deleted"]);
});

test("a front that had nothing to hold for a moment keeps the call that comes next, however long it waits", async () => {
  const { server, events } = watchedServer();
  const all = await cluster(server);
  const [a, b] = all.instances;
  const session = await initialize(b.url);
  const confirmed = async (waitMs: number): Promise<void> => {
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await stream.message();
    await all.pass(waitMs, 1_000);
    expect(await session.answer(b.url, ask.id, yes)).toBe(202);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
  };
  await confirmed(0);
  await all.pass(2_000, 250);
  await confirmed(minuteMs);
  expect(events).toEqual(["asks", "deleted", "asks", "deleted"]);
});

test("the wire of a confirm is that of its golden file, byte for byte but for ids", async () => {
  const [a, b] = (await cluster(watchedServer().server)).instances;
  const session = await initialize(a.url);
  const response = await fetch(a.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": session.id,
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: folder }),
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const before = text;
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const [, askId] = /"id":"([^"]+)","method":"elicitation\/create"/.exec(text) ?? [];
    if (askId !== undefined && !before.includes(askId)) await session.answer(b.url, askId, yes);
  }
  const [callId = "?"] = /(?<=^id: )[\w-]+/.exec(text) ?? [];
  const readable = text
    .replaceAll(callId, "<call>")
    .replaceAll(/"<call>[^"]+"/g, '"<call>.<question>"');
  expect(readable).toBe(await golden("confirm.txt"));
});
