/** What ends with a session, and with the token of whoever listens. */
import { defineServer, tool } from "@reprise/runtime";
import { describe, expect, test, vi } from "vitest";
import { heardAt } from "../support/listener.ts";
import { type Cluster, cluster } from "./support/instances.ts";
import {
  askIdOf,
  initialize,
  type Message,
  post,
  sessionOf,
  streamOf,
} from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const yes = { action: "accept", content: { confirm: true } };
const folder = { name: "delete_folder", arguments: { path: "build/" } };

/** Moves the time on in steps, with room for what each one sets off. */
async function pass({ clock }: Cluster, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The id of the run that a call's ask belongs to. */
async function runIdOf({ shared }: Cluster, ask: Message): Promise<string> {
  const id = askIdOf(ask).split(".")[0] ?? "";
  const record = await shared.get({ kind: "call", id });
  return String((record?.value as { runId?: string } | undefined)?.runId);
}

describe("the end of a session", () => {
  test.each([0, 1])(
    "cancels a run that waits for an answer that nobody can give any more, told at front %i",
    async (place) => {
      const all = await cluster(watchedServer().server);
      const [a] = all.instances;
      const cancel = vi.spyOn(a.runtime, "cancel");
      const session = await initialize(a.url);
      const stream = streamOf(await session.request(a.url, "tools/call", folder));
      const ask = await stream.message();
      const runId = await runIdOf(all, ask);
      expect(await session.end(all.instances[place]?.url ?? "")).toBe(204);
      expect(await stream.rest()).toEqual([]);
      await expect.poll(() => cancel.mock.calls.map(([id]) => id)).toEqual([runId]);
      expect(await cancel.mock.results[0]?.value).toMatchObject({ kind: "cancelled" });
      const callId = askIdOf(ask).split(".")[0] ?? "";
      await expect.poll(() => all.shared.get({ kind: "call", id: callId })).toBeUndefined();
    },
  );

  test("lets a handler of the session clean up that rests at its question", async () => {
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
    await streamOf(await session.request(a.url, "tools/call", { name: "look" })).message();
    await session.end(b.url);
    await expect.poll(() => events).toEqual(["cleaned up"]);
  });

  test("leaves a run under a key to whoever calls with the key in another session", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const keyed = { ...folder, _meta: { "reprise/idempotencyKey": "k".repeat(32) } };
    const session = await initialize(a.url);
    await streamOf(await session.request(a.url, "tools/call", keyed)).message();
    await session.end(a.url);
    const other = await initialize(b.url);
    const stream = streamOf(await other.request(b.url, "tools/call", keyed));
    const ask = await stream.message();
    expect(await other.answer(a.url, ask.id, yes)).toBe(202);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
  });

  test("lets a handler that runs finish its work, and cancels it when it asks instead", async () => {
    const { server, entered, release, events } = watchedServer();
    const all = await cluster(server);
    const [a] = all.instances;
    const session = await initialize(a.url);
    const waiting = session.request(a.url, "tools/call", { name: "wait" });
    await entered;
    await session.end(a.url);
    // Its request is answered, although there is nothing to say.
    expect(await streamOf(await waiting).rest()).toEqual([]);
    release();
    await expect.poll(() => events).toEqual(["waits", "effect"]);
  });
});

describe("the end of a token", () => {
  const authenticate = ({ headers }: { headers: Record<string, unknown> }) => {
    const [person = "", exp] = String(headers["authorization"]).split(";");
    const claims = exp === undefined ? {} : { exp: Number(exp) };
    return { caller: { principal: person, person, scopes: [], claims } };
  };
  const hello = {
    ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
    params: {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {} },
      clientInfo: { name: "c", version: "1" },
    },
  };
  const secured = async () => {
    const all = await cluster(watchedServer().server, { authenticate });
    const until = (seconds: number) => `ann;${all.clock.now() / 1000 + seconds}`;
    const as = (seconds: number) => ({ authorization: until(seconds) });
    const issued = await post(all.instances[0].url, hello, as(60));
    const session = sessionOf(issued.headers.get("mcp-session-id") ?? "");
    return { all, as, session };
  };

  test("ends a session's GET stream, and not before", async () => {
    const { all, as, session } = await secured();
    const [a] = all.instances;
    const stream = streamOf(await session.listen(a.url, undefined, as(60)));
    await pass(all, 59);
    await heardAt(all, a, () => a.runtime.tools.disable("greet"));
    expect((await stream.message()).method).toBe("notifications/tools/list_changed");
    await pass(all, 2);
    expect(await stream.rest()).toEqual([]);
  });

  test.each([0, 1])(
    "ends a GET stream that reads a call on, at front %i, and a new token reads it to its end",
    async (place) => {
      const { all, as, session } = await secured();
      const [a] = all.instances;
      const url = all.instances[place]?.url ?? "";
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: folder };
      const first = streamOf(await session.send(a.url, call, as(600)));
      const opening = await first.next();
      const again = streamOf(await session.listen(url, opening?.id, as(60)));
      expect(await again.next()).toMatchObject({ id: opening?.id, data: "" });
      const ask = await again.next();
      await pass(all, 61);
      expect(await again.rest()).toEqual([]);
      const last = streamOf(await session.listen(url, ask?.id, as(60)));
      const answer = { jsonrpc: "2.0", id: ask?.message?.id, result: yes };
      await session.send(a.url, answer, as(60));
      const rest = last.rest();
      await pass(all, 2);
      expect(await rest).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    },
  );

  test("that clock tolerance let in opens no GET stream but asks for a new token", async () => {
    const { all, as, session } = await secured();
    expect((await session.listen(all.instances[0].url, undefined, as(-1))).status).toBe(401);
  });
});
