/**
 * The wire of a confirm, exactly, and how many messages a call costs, through the official client.
 *
 * How messages are counted: a proxy between client and server counts JSON-RPC messages in both directions. What
 * `connect` sends (server/discover and its result under version negotiation "auto") belongs to the connection and not
 * to a call, so it is counted apart; a client that gave the discovery of an earlier connection sends none of it.
 */
import { readFileSync } from "node:fs";
import { connect } from "@reprise/client";
import { defineServer, type ServerDefinition, tool } from "reprise";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { connectOfficial, type OfficialClient, textOf, yes } from "../support/officialClient.ts";
import {
  type RecordingProxy,
  recordingProxy,
  type WireMessage,
} from "../support/recordingProxy.ts";
import { serveForTest } from "../support/temporary.ts";

interface Golden {
  readonly confirm: unknown;
  readonly exchange: unknown;
}

const golden = JSON.parse(
  readFileSync(new URL("./golden/confirm.json", import.meta.url), "utf8"),
) as Golden;

const fixture = (): ServerDefinition =>
  defineServer({
    name: "fixture-server",
    version: "1.0.0",
    tools: [
      tool({
        name: "delete_folder",
        description: "Delete a folder",
        input: z.object({ path: z.string() }),
        async handler({ path }, ctx) {
          if (!(await ctx.confirm(`Delete ${path}?`))) return "Kept.";
          await ctx.step("delete", () => "gone");
          return "Deleted.";
        },
      }),
      tool({
        name: "ask_often",
        description: "Asks in so many rounds",
        input: z.object({ rounds: z.int() }),
        async handler({ rounds }, ctx) {
          for (let round = 1; round <= rounds; round += 1) {
            await ctx.confirm(`Question ${round}?`, { key: `question ${round}` });
          }
          return `Asked ${rounds}.`;
        },
      }),
      tool({
        name: "ask_together",
        description: "Asks all at once",
        input: z.object({ asks: z.int() }),
        async handler({ asks }, ctx) {
          const keys = Array.from({ length: asks }, (_, index) => `question ${index}`);
          await Promise.all(keys.map((key) => ctx.confirm(`${key}?`, { key })));
          return `Asked ${asks}.`;
        },
      }),
    ],
  });

interface Wired {
  readonly proxy: RecordingProxy;
  readonly official: OfficialClient;
  /** Messages since the connection was made. */
  since(): readonly WireMessage[];
  readonly handshake: readonly WireMessage[];
}

async function wired(): Promise<Wired> {
  const served = await serveForTest(fixture());
  const proxy = await recordingProxy(served.url);
  onTestFinished(() => proxy.close());
  const official = await connectOfficial(proxy.url, yes);
  onTestFinished(() => official.close());
  const handshake = [...proxy.messages];
  return { proxy, official, handshake, since: () => proxy.messages.slice(handshake.length) };
}

interface Call {
  readonly id: unknown;
  readonly params: { readonly requestState?: string };
}

interface Result {
  readonly inputRequests?: unknown;
  readonly requestState?: string;
}

function resultOf(message: WireMessage | undefined): Result | undefined {
  return message?.body["result"] as Result | undefined;
}

/** What differs from run to run, by name; the same value gets the same name. */
function nameVariables(messages: readonly WireMessage[]): unknown {
  const ids = new Map<unknown, string>();
  const idOf = (id: unknown): string => {
    const known = ids.get(id) ?? `<id ${ids.size + 1}>`;
    ids.set(id, known);
    return known;
  };
  return messages.map(({ from, body, http: { status } }) => ({
    from,
    ...(status === undefined ? {} : { status }),
    body: JSON.parse(
      JSON.stringify(body, (name, value: unknown) => {
        if (name === "id") return idOf(value);
        if (name === "requestState") return "<state>";
        if (name === "reprise/answerBefore") return "<time>";
        return value;
      }),
    ) as unknown,
  }));
}

// promise P3.1.1
test("a confirm is on the wire, member by member and in this order, what the golden file says", async () => {
  const { official, since } = await wired();
  const { client } = official;
  await client.callTool({ name: "delete_folder", arguments: { path: "build/" } });
  const messages = since().filter(({ body }) => body["method"] !== "tools/list");
  const exchange = nameVariables(messages);
  expect(JSON.stringify(exchange, null, 2)).toBe(JSON.stringify(golden.exchange, null, 2));

  expect(JSON.stringify(resultOf(messages[1])?.inputRequests)).toBe(JSON.stringify(golden.confirm));
});

test("the retry carries a new JSON-RPC id and the state as it was given", async () => {
  const { official, since } = await wired();
  await official.client.callTool({ name: "delete_folder", arguments: { path: "build/" } });
  const calls = since().filter(({ body }) => body["method"] === "tools/call");
  expect(calls).toHaveLength(2);
  const [first, retry] = calls.map(({ body }) => body as unknown as Call);
  expect(retry?.id).not.toEqual(first?.id);
  const states = since().flatMap((message) => resultOf(message)?.requestState ?? []);
  expect(states).toEqual([expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)]);
  expect(retry?.params.requestState).toBe(states[0]);
  expect(first?.params.requestState).toBeUndefined();
});

test("list, call and answered retry are 6 messages, and connecting is 2", async () => {
  const { official, handshake, since, proxy } = await wired();
  await official.client.listTools();
  const result = await official.client.callTool({
    name: "delete_folder",
    arguments: { path: "build/" },
  });
  expect(textOf(result)).toBe("Deleted.");
  expect(since().map(({ from, body }) => [from, body["method"] ?? "result"])).toEqual([
    ["client", "tools/list"],
    ["server", "result"],
    ["client", "tools/call"],
    ["server", "result"],
    ["client", "tools/call"],
    ["server", "result"],
  ]);
  expect(handshake.map(({ from, body }) => [from, body["method"] ?? "result"])).toEqual([
    ["client", "server/discover"],
    ["server", "result"],
  ]);
  // Each message is alone in its half of an exchange, and nothing without a message was sent.
  expect(proxy.exchanges()).toBe(4);
});

test.each([0, 1, 2, 3, 8])("a call that needs %i rounds is 2 + 2r messages", async (rounds) => {
  const { official, since } = await wired();
  await official.client.listTools();
  const before = since().length;
  const result = await official.client.callTool({ name: "ask_often", arguments: { rounds } });
  expect(textOf(result)).toBe(`Asked ${rounds}.`);
  expect(since().length - before).toBe(2 + 2 * rounds);
});

test("asks made in parallel share one round: 4 messages for five questions", async () => {
  const { official, since } = await wired();
  await official.client.listTools();
  const before = since().length;
  const result = await official.client.callTool({ name: "ask_together", arguments: { asks: 5 } });
  expect(textOf(result)).toBe("Asked 5.");
  expect(official.asked).toHaveLength(5);
  expect(since().length - before).toBe(4);
});

test("our own client sends the same 6 messages, and none of them again after a known discovery", async () => {
  const served = await serveForTest(fixture());
  const proxy = await recordingProxy(served.url);
  onTestFinished(() => proxy.close());
  const host = {
    form: () =>
      Promise.resolve({ action: "accept" as const, content: new Map([["confirm", true]]) }),
  };
  const first = await connect({ url: proxy.url, host });
  onTestFinished(() => first.close());
  expect(proxy.messages).toHaveLength(2);
  const { discovered } = first;
  if (discovered === undefined) throw new Error("nothing was discovered");
  const second = await connect({ url: proxy.url, host, discovered });
  onTestFinished(() => second.close());
  expect(proxy.messages).toHaveLength(2);
  const outcome = await second.callTool("delete_folder", { path: "build/" });
  expect(outcome.status).toBe("complete");
  expect(proxy.messages.slice(2).map(({ body }) => body["method"] ?? "result")).toEqual([
    "tools/list",
    "result",
    "tools/call",
    "result",
    "tools/call",
    "result",
  ]);
});
