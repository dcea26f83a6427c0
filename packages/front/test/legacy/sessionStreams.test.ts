/** GET streams of sessions: what the server says outside of calls, over one of them, from whatever front it was said on. */
import { describe, expect, test } from "vitest";
import { type Cluster, cluster } from "./support/instances.ts";
import { initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const publish = ({ shared }: Cluster, change: unknown) =>
  shared.publish("changes", JSON.stringify(change));
const updated = (uri: string) => ({ kind: "resourceUpdated", uri });

describe("a session's GET stream", () => {
  test("tells updates of subscribed resources and changed lists, whoever said so", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    await session.request(b.url, "resources/subscribe", { uri: "test://one" });
    await session.request(a.url, "resources/subscribe", { uri: "test://item/7" });
    await session.request(b.url, "resources/unsubscribe", { uri: "test://item/7" });
    const stream = streamOf(await session.listen(b.url));
    await publish(all, updated("test://item/7"));
    await publish(all, updated("test://other"));
    await publish(all, updated("test://one"));
    await publish(all, { kind: "toolsChanged" });
    const got = [await stream.message(), await stream.message()];
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
    await publish(all, { kind: "toolsChanged" });
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
        await publish(all, { kind: "toolsChanged" });
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
    await publish(all, { kind: "toolsChanged" });
    expect((await older.message()).method).toBe("notifications/tools/list_changed");
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
