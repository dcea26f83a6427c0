/** GET streams of sessions: what the server says outside of calls, over one of them, from whatever front it was said on. */
import { describe, expect, test } from "vitest";
import { cluster, type Instance } from "./support/instances.ts";
import { initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

/** Switches a tool on an instance, so that the list of tools is another one. */
async function switchTool(instance: Instance): Promise<void> {
  const { tools, catalog } = instance.runtime;
  if (catalog.findTool("greet") === undefined) await tools.enable("greet");
  else await tools.disable("greet");
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
    await a.runtime.resourceUpdated("test://item/7");
    await b.runtime.resourceUpdated("test://other");
    await a.runtime.resourceUpdated("test://one");
    await switchTool(a);
    await a.runtime.prompts.disable("hello");
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

  test("of two, on two fronts, the newest speaks and the other is silent", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const older = streamOf(await session.listen(a.url));
    const newer = streamOf(await session.listen(b.url));
    await switchTool(a);
    expect((await newer.message()).method).toBe("notifications/tools/list_changed");
    await session.end(b.url);
    expect([await older.rest(), await newer.rest()]).toEqual([[], []]);
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
        await switchTool(a);
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
    await switchTool(a);
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
        await switchTool(a);
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
    await switchTool(a);
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
        await switchTool(a);
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
