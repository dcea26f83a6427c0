/** GET streams of sessions: what the server says outside of calls, over one of them, from whatever front it was said on. */
import { describe, expect, test } from "vitest";
import { heardAt } from "../support/listener.ts";
import { type Cluster, cluster, type Instance } from "./support/instances.ts";
import { type EventReader, initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

/** Switches a tool on the first instance, so that the list of tools is another one, and lets `at` tell its clients. */
async function switchTool(all: Cluster, at: Instance): Promise<void> {
  const { tools, catalog } = all.instances[0].runtime;
  const isOff = catalog.findTool("greet") === undefined;
  await heardAt(all, at, () => (isOff ? tools.enable("greet") : tools.disable("greet")));
}

/** Moves the time on in steps, with room for what each one sets off. */
async function pass({ clock }: Cluster, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

const listsChanged = [
  { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
  { jsonrpc: "2.0", method: "notifications/prompts/list_changed" },
];

/** Reads what a stream begins with that is not its session's first. */
async function lookAgain(all: Cluster, stream: EventReader): Promise<void> {
  await pass(all, 1);
  expect([await stream.message(), await stream.message()]).toEqual(listsChanged);
}

describe("a session's GET stream", () => {
  test("tells updates of subscribed resources and changed lists, whoever said so", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    await session.request(b.url, "resources/subscribe", { uri: "test://one" });
    await session.request(a.url, "resources/subscribe", { uri: "test://item/7" });
    await session.request(b.url, "resources/unsubscribe", { uri: "test://item/7" });
    const stream = streamOf(await session.listen(b.url));
    await heardAt(all, b, () => a.runtime.resourceUpdated("test://item/7"));
    await heardAt(all, b, () => b.runtime.resourceUpdated("test://other"));
    await heardAt(all, b, () => a.runtime.resourceUpdated("test://one"));
    await switchTool(all, b);
    await heardAt(all, b, () => a.runtime.prompts.disable("hello"));
    const got = [await stream.message(), await stream.message(), await stream.message()];
    expect(got).toContainEqual({ jsonrpc: "2.0", method: "notifications/prompts/list_changed" });
    expect(got).toContainEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "test://one" },
    });
    expect(got).toContainEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await session.end(a.url);
    expect(await stream.rest()).toEqual([]);
  });

  test("tells of another list only when every front has it, and of many changes in a moment once", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    await session.request(a.url, "resources/subscribe", { uri: "test://one" });
    const stream = streamOf(await session.listen(a.url));
    const { get } = b.shared;
    let read = (): void => undefined;
    // The other front hears of it, and its look at the store takes a while.
    const isRead = new Promise<void>((resolve) => {
      read = resolve;
    });
    b.shared.get = async (key) => {
      if (key.kind === "flag") await isRead;
      return get(key);
    };
    const isHeardThere = new Promise<void>((resolve) => {
      b.runtime.onChange(() => resolve());
    });
    await a.runtime.tools.disable("greet");
    for (let time = 0; time < 3; time++) await a.runtime.resourceUpdated("test://one");
    all.clock.advance(50);
    const first = stream.message();
    let isTold = false;
    void first.then(() => {
      isTold = true;
    });
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isTold).toBe(false);
    read();
    await isHeardThere;
    all.clock.advance(200);
    const told = new Set([await first, await stream.message()].map(({ method }) => method));
    expect(told).toEqual(
      new Set(["notifications/resources/updated", "notifications/tools/list_changed"]),
    );
    const listed = await session.request(b.url, "tools/list");
    expect(JSON.stringify(listed.json.result)).not.toContain('"greet"');
    await session.end(a.url);
    expect(await stream.rest()).toEqual([]);
  });

  test("of two, on two fronts, the newest speaks and the other is silent", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    const newer = streamOf(await session.listen(b.url));
    await lookAgain(all, newer);
    await switchTool(all, b);
    expect((await newer.message()).method).toBe("notifications/tools/list_changed");
    await pass(all, 15);
    await session.end(b.url);
    expect([await older.rest(), await newer.rest()]).toEqual([[], []]);
  });

  test("that opens where there was one before begins with what makes its client look again, and the first one does not", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const first = streamOf(await session.listen(a.url));
    await pass(all, 1);
    await session.request(a.url, "resources/subscribe", { uri: "test://one" });
    await session.request(a.url, "resources/subscribe", { uri: "test://item/7" });
    await first.leave();
    await a.runtime.resourceUpdated("test://one");
    const next = streamOf(await session.listen(b.url));
    await pass(all, 1);
    expect([await next.message(), await next.message()]).toEqual(listsChanged);
    const updated = [await next.message(), await next.message()].map(
      ({ params }) => params?.["uri"],
    );
    expect(updated).toEqual(["test://one", "test://item/7"]);
    await session.end(a.url);
    expect([await first.rest(), await next.rest()]).toEqual([[], []]);
  });

  test("says what was told while the front of the speaker was dead and its lease was not over", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    await session.request(a.url, "resources/subscribe", { uri: "test://one" });
    const older = streamOf(await session.listen(a.url));
    await session.listen(b.url);
    b.die();
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://one"));
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://other"));
    await pass(all, 3);
    await heardAt(all, a, () => a.runtime.tools.disable("greet"));
    await pass(all, 12);
    expect([await older.message(), await older.message()]).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "test://one" } },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
    ]);
    await session.end(a.url);
    expect(await older.rest()).toEqual([]);
  });

  test("says what was told while the store was away, once the store is there again", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.listen(a.url));
    const { get } = a.shared;
    a.shared.get = (key) =>
      key.kind === "session" ? Promise.reject(new Error("the store is away")) : get(key);
    await switchTool(all, a);
    await pass(all, 2);
    a.shared.get = get;
    await pass(all, 2);
    expect((await stream.message()).method).toBe("notifications/tools/list_changed");
    await session.end(a.url);
    expect(await stream.rest()).toEqual([]);
  });

  test("says what is gathered before its front stops in order", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.listen(a.url));
    const heard = new Promise<void>((resolve) => {
      a.runtime.onChange(() => resolve());
    });
    await a.runtime.tools.disable("greet");
    await heard;
    const closed = a.close();
    expect(await stream.rest()).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
    ]);
    await closed;
  });

  test("speaks again when the newer one is gone", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    const newer = streamOf(await session.listen(b.url));
    await newer.leave();
    const heard = older.message();
    await expect
      .poll(async () => {
        await switchTool(all, a);
        return Promise.race([heard, new Promise((resolve) => setImmediate(resolve, undefined))]);
      })
      .toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("speaks in place of one whose front died", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    await session.listen(b.url);
    b.die();
    for (let second = 0; second < 12; second++) {
      all.clock.advance(1_000);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    await switchTool(all, a);
    expect((await older.message()).method).toBe("notifications/tools/list_changed");
  });

  test("is not kept for a client that goes while it opens: the other one goes on speaking", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    const { put } = a.shared;
    let answer = (): void => undefined;
    // The store answers only when the client is gone.
    const isRecorded = new Promise<void>((resolve) => {
      a.shared.put = async (...args) => {
        const revision = await put(...args);
        a.shared.put = put;
        const answered = new Promise<void>((go) => {
          answer = go;
        });
        resolve();
        await answered;
        return revision;
      };
    });
    const going = new AbortController();
    const headers = { "mcp-session-id": session.id, accept: "text/event-stream" };
    const isOver = a.nextResponseOver();
    const gone = fetch(a.url, { headers, signal: going.signal }).catch(() => undefined);
    await isRecorded;
    going.abort();
    await Promise.all([gone, isOver]);
    answer();
    const heard = older.message();
    await expect
      .poll(async () => {
        await switchTool(all, a);
        return Promise.race([heard, new Promise((resolve) => setImmediate(resolve, undefined))]);
      })
      .toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("leaves the speaking to another one also when the store was away as it ended", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    const newer = streamOf(await session.listen(b.url));
    const { get } = b.shared;
    const refused = new Promise<void>((resolve) => {
      b.shared.get = (key) => {
        if (key.kind !== "session") return get(key);
        resolve();
        return Promise.reject(new Error("the store is away"));
      };
    });
    await newer.leave();
    await refused;
    b.shared.get = get;
    for (let second = 0; second < 3; second++) {
      all.clock.advance(1_000);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    await switchTool(all, a);
    expect((await older.message()).method).toBe("notifications/tools/list_changed");
  });

  test("that could not be opened is no speaker: the other one goes on speaking", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    const { put } = b.shared;
    // Written, but its reply was lost.
    b.shared.put = async (...args) => {
      const revision = await put(...args);
      if (args[0].kind !== "session") return revision;
      b.shared.put = put;
      throw new Error("the store is away");
    };
    expect((await session.listen(b.url)).stream).toBeUndefined();
    const heard = older.message();
    await expect
      .poll(async () => {
        await switchTool(all, a);
        return Promise.race([heard, new Promise((resolve) => setImmediate(resolve, undefined))]);
      })
      .toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("closes when its front stops in order, so that the front can", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.listen(a.url));
    const closed = a.close();
    expect(await stream.rest()).toEqual([]);
    await closed;
  });

  test("is not opened for a client that takes no event stream", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const { id } = await initialize(a.url);
    const headers = { "mcp-session-id": id, accept: "application/json" };
    expect((await fetch(a.url, { headers })).status).toBe(406);
    expect((await fetch(a.url, { headers: { "mcp-protocol-version": "2025-11-25" } })).status).toBe(
      400,
    );
    expect((await fetch(a.url, { headers: { "mcp-protocol-version": "2026-07-28" } })).status).toBe(
      405,
    );
  });
});
