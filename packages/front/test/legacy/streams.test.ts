/** Streams of calls: events with ids, read on from anywhere; calls whose front died; cancelled calls. */
import { defineServer, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { type Cluster, cluster } from "./support/instances.ts";
import {
  askIdOf,
  type Event,
  type EventReader,
  initialize,
  streamOf,
} from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const yes = { action: "accept", content: { confirm: true } };
const folder = { name: "delete_folder", arguments: { path: "build/" } };
const leaseMs = 10_000;

/** Events up to the first message, and that message's. */
async function untilMessage(stream: EventReader): Promise<Event> {
  for (;;) {
    const event = await stream.next();
    if (event === undefined) throw new Error("the stream has ended");
    if (event.message !== undefined) return event;
  }
}

/** Moves the time on in steps, with room for what each one sets off. */
async function pass({ clock }: Cluster, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    clock.advance(Math.min(1_000, left));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a call's stream", () => {
  test("carries progress with the client's token and logs from the session's level on", async () => {
    const [a, b] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const count = { name: "count", _meta: { progressToken: "t" } };
    const silent = await session.request(a.url, "tools/call", { name: "count" });
    expect(silent.stream).toBeUndefined();
    await session.request(b.url, "logging/setLevel", { level: "info" });
    const messages = await streamOf(await session.request(a.url, "tools/call", count)).rest();
    expect(
      messages.map(({ method, params }) => [method, params?.["progress"] ?? params?.["data"]]),
    ).toEqual([
      ["notifications/progress", 1],
      ["notifications/message", "at 1"],
      ["notifications/progress", 2],
      ["notifications/message", "at 2"],
      [undefined, undefined],
    ]);
    expect(messages[0]?.params).toMatchObject({ progressToken: "t", total: 2 });
  });

  test("opens with an empty event on 2025-11-25 alone: older clients would parse it", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const first = async (revision: string) => {
      const session = await initialize(a.url, revision);
      return streamOf(await session.request(a.url, "tools/call", folder)).next();
    };
    expect((await first("2025-11-25"))?.data).toBe("");
    expect((await first("2025-06-18"))?.data).not.toBe("");
  });

  test.each([0, 1])(
    "is read on at front %i, past what the client has, to the result",
    async (place) => {
      const all = await cluster(watchedServer().server);
      const [a] = all.instances;
      const other = all.instances[place] ?? a;
      const session = await initialize(a.url);
      const stream = streamOf(await session.request(a.url, "tools/call", folder));
      const opening = await stream.next();
      const ask = await untilMessage(stream);
      await stream.leave();
      const again = streamOf(await session.listen(other.url, opening?.id));
      expect((await untilMessage(again)).data).toBe(ask.data);
      const rest = streamOf(await session.listen(other.url, ask.id));
      await session.answer(a.url, ask.message?.id, yes);
      const end = rest.rest();
      await pass(all, 2_000);
      expect(await end).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
      const late = streamOf(await session.listen(other.url, ask.id));
      expect(await late.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    },
  );

  test("is no other session's, and an id of nothing is refused without ending the session", async () => {
    const [a, b] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const event = await untilMessage(stream);
    const stranger = await initialize(a.url);
    expect((await stranger.listen(b.url, event.id)).status).toBe(400);
    expect((await session.listen(b.url, "nonsense")).status).toBe(400);
    expect(
      (await session.listen(b.url, event.id?.replace(/-[^.]*\./, "-AAAAAAAAAAAAAAAA."))).status,
    ).toBe(400);
  });

  test("is closed by the server after pollAfterMs, and polled to its end", async () => {
    const all = await cluster(watchedServer().server, {
      legacy: { pollAfterMs: 2_000, retryMs: 50 },
    });
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await untilMessage(stream);
    await pass(all, 3_000);
    expect(await stream.next()).toMatchObject({ retry: "50" });
    expect(await stream.next()).toBeUndefined();
    await session.answer(b.url, ask.message?.id, yes);
    const rest = streamOf(await session.listen(a.url, ask.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
  });

  test.each([0, 1])(
    "is polled again and again at front %i, by the last id of the stream before, which has one although nothing happened",
    async (place) => {
      const all = await cluster(watchedServer().server, {
        legacy: { pollAfterMs: 2_000, retryMs: 50 },
      });
      const [a, b] = all.instances;
      const { url } = all.instances[place] ?? a;
      const session = await initialize(a.url);
      let stream = streamOf(await session.request(a.url, "tools/call", folder));
      const ask = await untilMessage(stream);
      for (let polls = 0; polls < 3; polls++) {
        await pass(all, 3_000);
        const events = await stream.events();
        expect(events.at(-1)?.retry).toBe("50");
        expect(events.filter(({ message }) => message !== undefined)).toEqual([]);
        const last =
          events.find(({ id }) => id !== undefined)?.id ?? (polls === 0 ? ask.id : undefined);
        stream = streamOf(await session.listen(url, last));
      }
      await session.answer(b.url, ask.message?.id, yes);
      expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    },
  );

  test.each([0, 1])(
    "gives a client that missed more than is kept the newest of it, and the result, at front %i",
    async (place) => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const chatty = tool({
        name: "chatty",
        description: "Tells every step",
        async handler(_args, ctx) {
          ctx.progress(1);
          await released;
          for (let step = 2; step <= 400; step++) ctx.progress(step);
          return "Told.";
        },
      });
      const server = defineServer({ name: "chatter", version: "1.0.0", tools: [chatty] });
      const all = await cluster(server);
      const [a] = all.instances;
      const other = all.instances[place] ?? a;
      const session = await initialize(a.url);
      const call = { name: "chatty", _meta: { progressToken: 1 } };
      const stream = streamOf(await session.request(a.url, "tools/call", call));
      const first = await untilMessage(stream);
      await stream.leave();
      release();
      await pass(all, 2_000);
      const again = streamOf(await session.listen(other.url, first.id));
      await pass(all, 2_000);
      const missed = await again.rest();
      expect(missed).toHaveLength(256);
      expect(missed[0]?.params).toMatchObject({ progress: 146 });
      expect(missed.at(-1)?.result).toMatchObject({ content: [{ text: "Told." }] });
    },
  );

  // promise P4.5.8
  test("is kept alive by comments, and a client that goes away ends nothing", async () => {
    const { server, entered, release, events } = watchedServer();
    const all = await cluster(server, { heartbeatMs: 1_000 });
    const [a] = all.instances;
    const session = await initialize(a.url);
    const call = { name: "wait", _meta: { progressToken: 1 } };
    const stream = streamOf(await session.request(a.url, "tools/call", call));
    await entered;
    const progress = await untilMessage(stream);
    await stream.leave();
    release();
    const rest = streamOf(await session.listen(a.url, progress.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Done." }] } }]);
    expect(events).toEqual(["waits", "effect"]);
  });
});

describe("a call whose front died", () => {
  test("is taken over by the front that gets its answer, and the effect happens once", async () => {
    const { server, events } = watchedServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await untilMessage(stream);
    a.die();
    await pass(all, leaseMs + 1_000);
    await session.answer(b.url, ask.message?.id, yes);
    const rest = streamOf(await session.listen(b.url, ask.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("is taken over by the front that gets its GET, also if that came before the lease was over", async () => {
    const { server, events } = watchedServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const ask = await untilMessage(streamOf(await session.request(a.url, "tools/call", folder)));
    a.die();
    const rest = streamOf(await session.listen(b.url, ask.id));
    await pass(all, leaseMs + 5_000);
    await session.answer(b.url, ask.message?.id, yes);
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("before its first outcome runs again where its client comes back", async () => {
    const { server, entered, release, events } = watchedServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const call = { name: "wait", _meta: { progressToken: 1 } };
    const stream = streamOf(await session.request(a.url, "tools/call", call));
    await entered;
    const progress = await untilMessage(stream);
    a.die();
    release();
    const rest = streamOf(await session.listen(b.url, progress.id));
    await pass(all, leaseMs + 5_000);
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Done." }] } }]);
    expect(events.filter((event) => event === "effect").length).toBeGreaterThan(0);
  });

  test("that was only paused falls silent: its record has another owner", async () => {
    const { server, events } = watchedServer();
    const all = await cluster(server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await untilMessage(stream);
    // The lease of a is gone, as after a pause, while its timers and its stream are still there.
    for (const { id } of await frontsOf(all, ask)) {
      const found = await all.shared.get({ kind: "front", id });
      await all.shared.remove({ kind: "front", id }, found?.revision ?? "");
    }
    await session.answer(b.url, ask.message?.id, yes);
    const rest = streamOf(await session.listen(b.url, ask.id));
    expect(await rest.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    expect(await stream.rest()).toEqual([]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });
});

/** The front that owns the call of an ask. */
async function frontsOf({ shared }: Cluster, ask: Event): Promise<readonly { id: string }[]> {
  const callId = askIdOf(ask.message ?? {}).split(".")[0] ?? "";
  const record = await shared.get({ kind: "call", id: callId });
  return [{ id: String((record?.value as { owner?: string } | undefined)?.owner) }];
}

describe("notifications/cancelled", () => {
  const cancel = (requestId: unknown) => ({
    ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
    params: { requestId, reason: "changed my mind" },
  });

  test("on another front withdraws the open ask and ends the stream without a response", async () => {
    const { server, events } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder, 41));
    const ask = await stream.message();
    expect((await session.send(b.url, cancel(41))).status).toBe(202);
    expect(await stream.rest()).toMatchObject([
      {
        method: "notifications/cancelled",
        params: { requestId: ask.id, reason: "changed my mind" },
      },
    ]);
    expect(await session.answer(a.url, ask.id, yes)).toBe(202);
    expect(events).not.toContain("deleted");
  });

  test("stops a running handler that has no record yet, on whatever front it runs", async () => {
    const { server, entered, events } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const waiting = session.request(a.url, "tools/call", { name: "wait" }, "w");
    await entered;
    expect((await session.send(b.url, cancel("w"))).status).toBe(202);
    const got = await waiting;
    expect(await streamOf(got).rest()).toEqual([]);
    await expect.poll(() => events).toContain("aborted");
    expect(events).not.toContain("effect");
  });

  test.each([cancel(99), cancel(undefined), cancel({ no: "id" })])(
    "of nothing is ignored",
    async (message) => {
      const [a] = (await cluster(watchedServer().server)).instances;
      const session = await initialize(a.url);
      expect((await session.send(a.url, message)).status).toBe(202);
    },
  );
});
