/**
 * `@reprise/client` and the terminal host on servers of the handshake era: one made with the official SDK of that era, and
 * Reprise's own front, asked for that era. A scripted person answers; a proxy counts what passes.
 */
import { PassThrough, Writable } from "node:stream";
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { connect, type Host, runCall } from "@reprise/client";
import { defineServer, tool } from "reprise";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { type RecordingProxy, recordingProxy } from "../support/recordingProxy.ts";
import { sdkServer } from "../support/sdkServer.ts";
import { serveForTest } from "../support/temporary.ts";

const confirmForm = {
  type: "object" as const,
  properties: { confirm: { type: "boolean" as const } },
  required: ["confirm"],
};

/** `delete_folder` on the official SDK; `own` puts the question on the session's stream, as its `elicitInput` does by default. */
function sdkFolders(own: boolean, deleted: string[]): () => McpServer {
  return () => {
    const server = new McpServer({ name: "sdk-server", version: "1.0.0" });
    server.registerTool(
      "delete_folder",
      { description: "Delete a folder", inputSchema: { path: z.string() } },
      async ({ path }, extra) => {
        const params = {
          mode: "form" as const,
          message: `Delete ${path}?`,
          requestedSchema: confirmForm,
        };
        const { action, content } = own
          ? await server.server.elicitInput(params)
          : await extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
        const yes = action === "accept" && content?.["confirm"] === true;
        if (yes) deleted.push(path);
        return { content: [{ type: "text", text: yes ? "Deleted." : "Kept." }] };
      },
    );
    return server;
  };
}

async function ownFolders(deleted: string[]): Promise<string> {
  const served = await serveForTest(
    defineServer({
      name: "own-server",
      version: "1.0.0",
      tools: [
        tool({
          name: "delete_folder",
          description: "Delete a folder",
          input: z.object({ path: z.string() }),
          async handler({ path }, ctx) {
            if (!(await ctx.confirm(`Delete ${path}?`))) return "Kept.";
            await ctx.step("delete", () => {
              deleted.push(path);
              return "gone";
            });
            return "Deleted.";
          },
        }),
      ],
    }),
  );
  return served.url;
}

interface Called {
  readonly code: number;
  readonly output: string;
  readonly dialog: string;
}

/** `reprise call` with a person who types `lines`; the server's era is found out unless `era` says it. */
async function call(
  url: string,
  lines: readonly string[],
  options: Partial<Parameters<typeof runCall>[0]> = {},
): Promise<Called> {
  const input = new PassThrough();
  input.end(lines.map((line) => `${line}\n`).join(""));
  const shown = { output: "", dialog: "" };
  const stream = (name: keyof typeof shown): Writable =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        shown[name] += chunk.toString("utf8");
        done();
      },
    });
  const code = await runCall({
    url,
    tool: "delete_folder",
    args: { path: "build/" },
    input,
    output: stream("output"),
    dialog: stream("dialog"),
    interactive: true,
    ...options,
  });
  return { code, ...shown };
}

async function proxied(url: string): Promise<RecordingProxy> {
  const proxy = await recordingProxy(url);
  onTestFinished(() => proxy.close());
  return proxy;
}

const names = (proxy: RecordingProxy): readonly string[] =>
  proxy.messages.map(({ from, body }) => {
    const method = body["method"];
    return `${from} ${typeof method === "string" ? method : "result"}`;
  });

const saysYes: Host = {
  form: async () => ({ action: "accept", content: new Map([["confirm", true]]) }),
};

test.each([
  ["on the call's stream", false],
  ["on the session's stream", true],
])(
  "a server of the official v1 SDK that asks %s is served by the terminal host, and the session is ended",
  async (_where, own) => {
    const deleted: string[] = [];
    const server = await sdkServer(sdkFolders(own, deleted));
    const yes = await call(server.url, ["yes", "send"]);
    expect(yes).toMatchObject({ code: 0, output: "Deleted.\n" });
    expect(yes.dialog).toContain(`── ${new URL(server.url).origin} asks ──`);
    expect(yes.dialog).toContain('It calls itself "sdk-server"');
    expect(yes.dialog).toContain('question "confirm"');
    expect(yes.dialog).toContain("  send / change / decline / cancel > ");
    expect(deleted).toEqual(["build/"]);

    const no = await call(server.url, [":decline"]);
    expect(no).toMatchObject({ code: 0, output: "Kept.\n" });
    const prepared = await call(server.url, [], { answers: ["confirm=true"], interactive: false });
    expect(prepared).toMatchObject({ code: 0, output: "Deleted.\n" });
    expect(deleted).toEqual(["build/", "build/"]);
    expect(server.sessions()).toEqual([]);
  },
);

test("Reprise's own front, spoken to in the handshake era, asks through the same gates", async () => {
  const deleted: string[] = [];
  const url = await ownFolders(deleted);
  const connection = { era: "legacy" as const };
  expect(await call(url, ["yes", "send"], { connection })).toMatchObject({
    code: 0,
    output: "Deleted.\n",
  });
  expect(await call(url, ["", "no", "decline"], { connection })).toMatchObject({
    code: 0,
    output: "Kept.\n",
  });
  expect(deleted).toEqual(["build/"]);
});

test("handshake, list, call and one answer are 9 messages on 2025-11-25", async () => {
  for (const url of [await ownFolders([]), (await sdkServer(sdkFolders(false, []))).url]) {
    const proxy = await proxied(url);
    const client = await connect({ url: proxy.url, host: saysYes, era: "legacy" });
    onTestFinished(() => client.close());
    expect(client.official.getNegotiatedProtocolVersion()).toBe("2025-11-25");
    expect(await client.callTool("delete_folder", { path: "build/" })).toMatchObject({
      status: "complete",
      result: { content: [{ text: "Deleted." }] },
    });
    expect([...names(proxy)].sort()).toEqual(
      [
        "client initialize",
        "server result",
        "client notifications/initialized",
        "client tools/list",
        "server result",
        "client tools/call",
        "server elicitation/create",
        "client result",
        "server result",
      ].sort(),
    );
    expect(names(proxy)).toHaveLength(9);
  }
});

test("list, call and one answer are 6 messages on 2026-07-28, which has no handshake", async () => {
  const proxy = await proxied(await ownFolders([]));
  const first = await connect({ url: proxy.url, host: saysYes });
  const { discovered } = first;
  await first.close();
  if (discovered === undefined) throw new Error("nothing was discovered");
  const before = proxy.messages.length;
  const client = await connect({ url: proxy.url, host: saysYes, discovered });
  onTestFinished(() => client.close());
  await client.callTool("delete_folder", { path: "build/" });
  expect(names(proxy).slice(before)).toEqual([
    "client tools/list",
    "server result",
    "client tools/call",
    "server result",
    "client tools/call",
    "server result",
  ]);
});

test("finding out the era costs 2 messages and calls no handler", async () => {
  const deleted: string[] = [];
  const proxy = await proxied((await sdkServer(sdkFolders(false, deleted))).url);
  const client = await connect({ url: proxy.url, host: saysYes });
  onTestFinished(() => client.close());
  expect(client.era).toBe("legacy");
  expect(names(proxy)).toEqual([
    "client server/discover",
    "server result",
    "client initialize",
    "server result",
    "client notifications/initialized",
  ]);
  await client.callTool("delete_folder", { path: "a" });
  expect(deleted).toEqual(["a"]);
});

test("a session that the server forgot is begun anew, and the call that found it out is made once", async () => {
  const deleted: string[] = [];
  const server = await sdkServer(sdkFolders(false, deleted));
  const client = await connect({ url: server.url, host: saysYes });
  onTestFinished(() => client.close());
  await client.callTool("delete_folder", { path: "one" });
  const [session] = server.sessions();
  server.forget(session ?? "");
  await client.callTool("delete_folder", { path: "two" });
  expect(deleted).toEqual(["one", "two"]);
  expect(server.sessions()).toHaveLength(1);
});

test.each(["Reprise's front", "the official v1 SDK with an event store"])(
  "a stream that is cut while %s waits for the person is gone on with, and the question is answered once",
  async (whose) => {
    const deleted: string[] = [];
    const url =
      whose === "Reprise's front"
        ? await ownFolders(deleted)
        : (await sdkServer(sdkFolders(false, deleted), new InMemoryEventStore())).url;
    const proxy = await proxied(url);
    let asked = 0;
    const host: Host = {
      form: async () => {
        asked += 1;
        proxy.cut();
        return { action: "accept", content: new Map([["confirm", true]]) };
      },
    };
    const retry = { firstDelayMs: 10 };
    const client = await connect({ url: proxy.url, host, era: "legacy", retry });
    onTestFinished(() => client.close());
    expect(await client.callTool("delete_folder", { path: "build/" })).toMatchObject({
      status: "complete",
      result: { content: [{ text: "Deleted." }] },
    });
    expect(asked).toBe(1);
    expect(deleted).toEqual(["build/"]);
    expect(names(proxy).filter((name) => name === "client tools/call")).toHaveLength(1);
  },
);

test("nobody at the terminal accepts nothing: the question is shown, the call is cancelled, and the exit code says so", async () => {
  const deleted: string[] = [];
  const proxy = await proxied((await sdkServer(sdkFolders(false, deleted))).url);
  const called = await call(proxy.url, [], { interactive: false });
  expect(called.code).toBe(6);
  expect(called.dialog).toContain("Delete build/?");
  expect(called.dialog).toContain("--answer confirm=true (or false)");
  expect(called.dialog).toContain("CALL_CANNOT_WAIT");
  expect(names(proxy)).toContain("client notifications/cancelled");
  // No answer of any kind: the last thing of the client is the cancellation.
  expect(names(proxy).at(-1)).toBe("client notifications/cancelled");
  expect(deleted).toEqual([]);
});
