/** What a store that is away for a while must not cost a call: its result, its questions, or a quarter of a minute. */
import { RepriseError } from "@reprise/errors";
import { describe, expect, test } from "vitest";
import { cluster, type Instance } from "./support/instances.ts";
import { initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";
import { type StoreKind, storeKinds } from "./support/stores.ts";

const yes = { action: "accept", content: { confirm: true } };
const folder = { name: "delete_folder", arguments: { path: "notes" } };
const done = { result: { content: [{ text: "Deleted." }] } };

type Port = "get" | "put" | "remove" | "append";

/** From now on these calls of an instance fail; returns how that ends. `reached`: the store has done what it was asked for. */
function away(
  { shared }: Instance,
  ports: readonly Port[],
  { reached = false, over = "" } = {},
): () => void {
  const before = ports.map((port) => [port, shared[port]] as const);
  for (const [port, work] of before) {
    const failing = async (...args: readonly unknown[]): Promise<never> => {
      if (!JSON.stringify(args).includes(over)) return Reflect.apply(work, shared, args) as never;
      if (reached) await Reflect.apply(work, shared, args);
      throw new RepriseError("STORE_UNAVAILABLE", "the store is played to be away");
    };
    Object.assign(shared, { [port]: failing });
  }
  return () => {
    for (const [port, work] of before) Object.assign(shared, { [port]: work });
  };
}

/** A call that A drives and that waits for an answer; its client has left and reads on at B. */
async function readingOnAtB(kind: StoreKind) {
  const { server, events } = watchedServer();
  const all = await cluster(server, { kind });
  const [a, b] = all.instances;
  const session = await initialize(a.url);
  const first = streamOf(await session.request(a.url, "tools/call", folder));
  await first.next();
  const ask = await first.next();
  await first.leave();
  const again = streamOf(await session.listen(b.url, ask?.id));
  await again.next();
  await all.pass(2_000);
  return { all, a, b, session, ask, again, events };
}

describe.each(storeKinds())("a call whose store is away, in %s,", (_name, kind) => {
  test.each([false, true])(
    "gives its result to the client that reads on at another front, once (writes arrive: %s)",
    async (reached) => {
      const { all, a, b, session, ask, again, events } = await readingOnAtB(kind);

      const mend = away(a, ["append"], { reached });
      await session.answer(b.url, ask?.message?.id, yes);
      await all.pass(10_000);
      mend();
      await all.pass(3_000);
      expect(await again.rest()).toMatchObject([done]);
      expect(events).toEqual(["asks", "deleted"]);
    },
  );

  test("shows its next question to the client that reads on at another front", async () => {
    const { server } = watchedServer();
    const all = await cluster(server, { kind });
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const first = streamOf(await session.request(a.url, "tools/call", { name: "ask_later" }));
    await first.next();
    const asks = [await first.next(), await first.next()];
    await first.leave();
    const again = streamOf(await session.listen(b.url, asks[1]?.id));
    await again.next();
    await all.pass(2_000);

    const mend = away(a, ["append"]);
    const firstAsk = asks.find((ask) => JSON.stringify(ask?.message).includes("First?"));
    await session.answer(b.url, firstAsk?.message?.id, yes);
    await all.pass(5_000);
    mend();
    await all.pass(3_000);
    expect((await again.message()).params).toMatchObject({ message: "Next?" });
  });

  test("refuses an answer by its status, which is all that its sender looks at, and takes it again", async () => {
    const { server } = watchedServer();
    const all = await cluster(server, { kind });
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await stream.message();

    for (const port of ["get", "put"] as const) {
      const mend = away(b, [port]);
      expect(await session.answer(b.url, ask.id, yes), port).toBe(503);
      const cancelled = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 99 },
      };
      const { status } = await session.send(b.url, cancelled);
      expect(status, port).toBe(port === "get" ? 503 : 202);
      mend();
    }
    expect(await session.answer(b.url, ask.id, yes)).toBe(202);
    await all.pass(2_000);
    expect(await stream.rest()).toMatchObject([done]);
  });

  test("takes an answer seconds after the store is there again, though its look at it failed", async () => {
    const { server } = watchedServer();
    const all = await cluster(server, { kind });
    const [a, b] = all.instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await stream.message();

    const mend = away(a, ["get"], { over: "call" });
    await session.answer(b.url, ask.id, yes);
    await all.pass(4_000);
    mend();
    await all.pass(3_000);
    expect(await stream.rest()).toMatchObject([done]);
  });

  test("is gone on with elsewhere when its front stops before the store has its result", async () => {
    const { all, a, b, session, ask, again, events } = await readingOnAtB(kind);

    away(a, ["append"]);
    await session.answer(b.url, ask?.message?.id, yes);
    await all.pass(2_000);
    await a.close();
    await all.pass(60_000);
    expect(await again.rest()).toMatchObject([done]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });
});
