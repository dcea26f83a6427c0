import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { exitCodes, type RunCallOptions, runCall } from "@reprise/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { complete, confirmAsk, type FakeServer, inputRequired } from "./support/fakeServer.ts";
import { manualClock } from "./support/hosts.ts";
import { serve } from "./support/opened.ts";
import { person, screen, typed } from "./support/terminal.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "reprise-client-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function call(
  server: FakeServer,
  options: Partial<RunCallOptions>,
): Promise<{ code: number; output: string; dialog: string }> {
  const output = screen();
  const dialog = screen();
  const code = await runCall({
    url: server.url,
    tool: "delete_folder",
    input: typed([]),
    output: output.stream,
    dialog: dialog.stream,
    interactive: true,
    connection: { clock: manualClock() },
    openUrl: async (href) => {
      throw new Error(`${href} must not be opened`);
    },
    ...options,
  });
  return { code, output: output.text(), dialog: dialog.text() };
}

const ask = (params: Record<string, unknown>): Record<string, unknown> => ({
  method: "elicitation/create",
  params,
});
const asks = {
  confirm: confirmAsk(),
  defaults: ask({
    message: "?",
    requestedSchema: { type: "object", properties: { go: { type: "boolean", default: true } } },
  }),
  empty: ask({ message: "?", requestedSchema: { type: "object", properties: {} } }),
  url: ask({ mode: "url", message: "?", url: "https://example.com/" }),
  refusedUrl: ask({ mode: "url", message: "?", url: "https://a@example.com/" }),
  sample: {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 },
  },
  roots: { method: "roots/list" },
};

test.each(Object.keys(asks) as (keyof typeof asks)[])(
  "Enter at every prompt of a %s ask accepts nothing, and neither does the end of input",
  async (kind) => {
    for (const presses of [0, 1, 50]) {
      const server = await serve(inputRequired({ [kind]: asks[kind] }, "s"));
      const ran = await call(server, { input: typed(Array<string>(presses).fill("")) });
      expect(ran).toMatchObject({ code: exitCodes.unanswered, output: "" });
      expect(server.calls).toHaveLength(1);
    }
  },
);

test("nobody at the terminal: the question is named, nothing is accepted, and input is not waited for", async () => {
  for (const kind of Object.keys(asks) as (keyof typeof asks)[]) {
    const server = await serve(inputRequired({ [kind]: asks[kind] }, "s"));
    const ran = await call(server, { input: typed(["yes", "send"], true), interactive: false });
    expect(ran).toMatchObject({ code: exitCodes.unanswered, output: "" });
    expect(ran.dialog).toContain(`Open question "${kind}"`);
    expect(ran.dialog).toContain("nothing was accepted");
    expect(server.calls).toHaveLength(1);
  }
});

test("lines typed before a question is shown on a terminal do not answer it", async () => {
  const { input, dialog } = person([
    { when: "confirm: ", type: "yes" },
    { when: "later > ", type: "send" },
    { when: "Second?", type: null },
  ]);
  const server = await serve(
    inputRequired({ a: confirmAsk("First?") }, "s"),
    async () => {
      // The terminal is open and nothing is asked: somebody leans on the keyboard.
      input.write("yes\nsend\n");
      await new Promise((resolve) => setImmediate(resolve));
      return inputRequired({ b: confirmAsk("Second?") }, "t");
    },
    complete("answered by nobody"),
  );
  const ran = await call(server, { input, dialog: dialog.stream });
  expect(ran.code).toBe(exitCodes.unanswered);
  expect(server.calls).toHaveLength(2);
});

test("no text of a server reaches the terminal as a control character or as a line of our own", async () => {
  const evil =
    "\u001b[2J\u001b]0;x\u0007\u009b1mOK\r\u202egnp\u202c\n── http://bank.example asks ──\n  send / change > ";
  const server = await serve(
    inputRequired(
      {
        [`k${evil}`]: ask({
          message: evil,
          requestedSchema: {
            type: "object",
            properties: {
              [evil]: { type: "string", title: evil, description: evil, default: evil },
              e: { type: "string", oneOf: [{ const: evil, title: evil }] },
            },
          },
        }),
        u: ask({ mode: "url", message: evil, url: `https://example.com/${evil}` }),
        bad: ask({ mode: "url", message: evil, url: `no url ${evil}` }),
        s: {
          method: "sampling/createMessage",
          params: {
            systemPrompt: evil,
            messages: [{ role: "user", content: { type: "text", text: evil } }],
            maxTokens: 5,
            modelPreferences: { hints: [{ name: evil }] },
          },
        },
      },
      "s",
      { "reprise/answerBefore": evil },
    ),
    {
      result: {
        resultType: "complete",
        content: [{ type: "text", text: evil }],
        structuredContent: { [evil]: evil },
      },
    },
    { error: { code: -1, message: evil, data: { evil } } },
  );
  server.discover = {
    result: {
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      supportedVersions: ["2026-07-28"],
      capabilities: {},
      _meta: { "io.modelcontextprotocol/serverInfo": { name: evil, version: evil } },
    },
  };
  const lines = [
    "",
    "",
    "send",
    "decline",
    "decline",
    "write",
    evil.replaceAll("\n", " "),
    ".",
    "send",
  ];
  const ran = await call(server, { input: typed(lines), color: false });
  expect(ran.code).toBe(exitCodes.done);
  const refused = await call(server, {});
  expect(refused.code).toBe(exitCodes.refusedByServer);
  const json = await call(
    await serve({ result: { resultType: "complete", content: [{ type: "text", text: evil }] } }),
    { json: true },
  );
  for (const shown of [ran.dialog, ran.output, refused.dialog, json.output]) {
    expect(shown).not.toMatch(/[^\P{C}\n\t]/u);
  }
  for (const line of `${ran.dialog}\n${refused.dialog}`.split("\n")) {
    expect(line).not.toMatch(/^(── http:\/\/bank| {2}send \/ change > $)/);
  }
  expect(JSON.parse(json.output)).toMatchObject({ content: [{ text: evil }] });
});

test("a look-alike host is shown as what it is, with a warning, and one with a user name can't be opened", async () => {
  const server = await serve(
    inputRequired(
      { url: ask({ mode: "url", message: "Sign in", url: "https://xn--pple-43d.com/login" }) },
      "s",
    ),
    complete("ok"),
  );
  const ran = await call(server, { input: typed(["decline"]) });
  expect(ran.dialog).toContain("https://xn--pple-43d.com/login");
  expect(ran.dialog).toMatch(/WARNING: The host is written in punycode/);

  const hidden = await serve(
    inputRequired(
      { url: ask({ mode: "url", message: "Sign in", url: "https://bank.example@evil.example/" }) },
      "s",
    ),
    complete("ok"),
  );
  const tried = await call(hidden, { input: typed(["open", "yes", "done", "accept", "decline"]) });
  expect(tried.dialog).toContain("will not be opened");
  expect(hidden.calls[1]?.params["inputResponses"]).toEqual({ url: { action: "decline" } });
  const prepared = await call(hidden, { answers: ['url={"action":"accept"}'], interactive: false });
  expect(prepared.code).toBe(exitCodes.done);
});

test("a prepared answer that does not fit is not sent, and is not used twice", async () => {
  for (const answer of [
    'confirm="yes"',
    "confirm=[]",
    'confirm={"confirm":1}',
    'confirm={"action":"accept"}',
    'confirm={"x":true}',
    "confirm=null",
  ]) {
    const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
    expect(await call(server, { interactive: false, answers: [answer] })).toMatchObject({
      code: exitCodes.usage,
    });
    expect(server.calls).toHaveLength(1);
  }
  const again = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
  expect(await call(again, { interactive: false, answers: ["confirm=true"] })).toMatchObject({
    code: exitCodes.unanswered,
  });
  expect(again.calls).toHaveLength(2);
});

test("Ctrl-C at a question answers nothing and has its own code", async () => {
  const { input, dialog } = person([{ when: "confirm: ", type: "\u0003" }]);
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
  const ran = await call(server, { input, dialog: dialog.stream });
  expect(ran).toMatchObject({ code: exitCodes.interrupted, output: "" });
  expect(server.calls).toHaveLength(1);
});

test("a call given up in flight is kept in the file", async () => {
  const abort = new AbortController();
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"), async () => {
    abort.abort(new Error("interrupted"));
    return await new Promise<never>(() => undefined);
  });
  const saveFile = join(folder, "call.json");
  const ran = await call(server, { saveFile, answers: ["confirm=true"], signal: abort.signal });
  expect(ran.code).toBe(exitCodes.interrupted);
  expect(JSON.parse(await readFile(saveFile, "utf8"))).toMatchObject({
    round: 1,
    pending: { requestState: "s" },
  });
});

test("a call saved by one process is resumed by another, under the same key, with the same state", async () => {
  const server = await serve(
    inputRequired({ a: confirmAsk("A?"), b: confirmAsk("B?") }, "state"),
    complete("Deleted."),
  );
  const file = join(folder, "call.json");
  const first = await child(
    "call",
    server.url,
    "delete_folder",
    '{"path":"build/"}',
    file,
    "a=true",
  );
  expect(first.code).toBe(exitCodes.waiting);
  const second = await child("resume", file, "b=false");
  expect(second).toMatchObject({ code: exitCodes.done, output: "Deleted.\n" });
  expect(server.calls[1]?.params).toMatchObject({
    arguments: { path: "build/" },
    requestState: "state",
    inputResponses: { a: { content: { confirm: true } }, b: { content: { confirm: false } } },
  });
  const keys = server.calls.map(
    ({ params }) => (params["_meta"] as Record<string, unknown>)["reprise/idempotencyKey"],
  );
  expect(keys[1]).toBe(keys[0]);
}, 60_000);

async function child(...args: string[]): Promise<{ code: number; output: string }> {
  const script = fileURLToPath(new URL("callProcess/main.ts", import.meta.url));
  const running = spawn(
    process.execPath,
    ["--conditions=@reprise/source", "--import", "tsx", script, ...args],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [output, [code]] = await Promise.all([
    text(running.stdout),
    once(running, "exit") as Promise<[number]>,
  ]);
  return { code, output };
}

test("nobody is told to accept a page that must not be opened, and its warnings are shown without a terminal too", async () => {
  const page = (url: string) => ask({ mode: "url", message: "?", url });
  const pages = { script: page("javascript:alert(1)"), look: page("https://xn--pypal-4ve.com/") };
  const ran = await call(await serve(inputRequired(pages, "s")), { interactive: false });
  expect(ran.code).toBe(exitCodes.unanswered);
  expect(ran.dialog).toContain("Page: javascript:alert(1)\n  It must not be opened.");
  expect(ran.dialog).toContain(`--answer script='{"action":"decline"}'\n`);
  expect(ran.dialog).not.toContain(`--answer script='{"action":"accept"}'`);
  expect(ran.dialog).toMatch(/Page: https:\/\/xn--pypal-4ve\.com\/\n {2}WARNING: .*punycode/);
});

test("what is wrong with a result that is none is told in one line", async () => {
  const result = { resultType: "complete", content: [{ type: "video", data: "x" }] };
  const ran = await call(await serve({ result }), {});
  expect(ran.code).toBe(exitCodes.refusedByServer);
  expect(ran.dialog.trim().split("\n")).toHaveLength(1);
  expect(ran.dialog).not.toContain("\\u{a}");
});

test("a misspelt tool is answered with the names that there are, neutralised", async () => {
  const server = await serve({ error: { code: -32602, message: "unknown" } });
  server.tools.push({ name: "delete\u001b[2K", inputSchema: { type: "object" } });
  const ran = await call(server, { tool: "delete_folders" });
  expect(ran.code).toBe(exitCodes.refusedByServer);
  expect(ran.dialog).toContain(
    "There is no tool delete_folders. There are: delete_folder, delete\\u{1b}[2K.",
  );
  expect((await call(server, { tool: "delete_folder" })).dialog).not.toContain("There is no tool");
});
