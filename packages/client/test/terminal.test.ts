import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes } from "@reprise/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { complete, confirmAsk, inputRequired } from "./support/fakeServer.ts";
import { manualClock } from "./support/hosts.ts";
import { serve } from "./support/opened.ts";
import { call, formAsk, responses, resume, sampleAsk } from "./support/terminalRun.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "reprise-client-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

test("prepared answers are sent for the questions they name, shown with the server that asked, and checked", async () => {
  const server = await serve(
    inputRequired(
      {
        confirm: confirmAsk(),
        order: formAsk({ n: { type: "integer" }, t: { type: "string", default: "x" } }),
        s: sampleAsk,
      },
      "s",
    ),
    complete("ok"),
  );
  const ran = await call(server, [], {
    interactive: false,
    answers: ["confirm=false", 'order={"n":3}', 's="Paris"', "typo=1"],
  });
  expect(ran.code).toBe(exitCodes.done);
  expect(responses(server)).toMatchObject({
    confirm: { action: "accept", content: { confirm: false } },
    order: { action: "accept", content: { n: 3, t: "x" } },
    s: { content: { text: "Paris" } },
  });
  expect(ran.dialog).toContain(`${new URL(server.url).origin} asks`);
  expect(ran.dialog).toContain("Answered as prepared: false");
  expect(ran.dialog).toContain('nothing was asked under "typo"');
});

test("a prepared decline or cancel is sent as such", async () => {
  for (const action of ["decline", "cancel"]) {
    const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"), complete("Kept."));
    await call(server, [], { interactive: false, answers: [`confirm={"action":"${action}"}`] });
    expect(responses(server)).toEqual({ confirm: { action } });
  }
});

test("with a file the call stops at the first open question, and resume goes on from there", async () => {
  const server = await serve(
    inputRequired({ a: confirmAsk("A?"), b: confirmAsk("B?") }, "s"),
    complete("done"),
  );
  const saveFile = join(folder, "call.json");
  const stopped = await call(server, ["yes", "send"], { saveFile, answers: ["b=true"] });
  expect(stopped).toMatchObject({ code: exitCodes.waiting, output: "" });
  expect(stopped.dialog).toContain("--answer a=true");
  expect(server.calls).toHaveLength(1);
  expect((await stat(saveFile)).mode & 0o777).toBe(0o600);

  expect(await resume(saveFile, [])).toMatchObject({ code: exitCodes.waiting });
  const done = await resume(saveFile, ["no", "send"]);
  expect(done).toMatchObject({ code: exitCodes.done, output: "done\n" });
  expect(done.dialog).not.toContain("B?");
  expect(responses(server)).toEqual({
    a: { action: "accept", content: { confirm: false } },
    b: { action: "accept", content: { confirm: true } },
  });
  expect(await readdir(folder)).toEqual([]);
});

test("a saved call holds no header or token", async () => {
  const server = await serve(inputRequired({ a: confirmAsk() }, "s"));
  const saveFile = join(folder, "call.json");
  const connection = {
    clock: manualClock(),
    headers: { "X-Api-Key": "hush-1" },
    token: async () => "hush-2",
  };
  expect(await call(server, [], { saveFile, connection })).toMatchObject({
    code: exitCodes.waiting,
  });
  expect(server.calls[0]?.headers).toMatchObject({
    "x-api-key": "hush-1",
    authorization: "Bearer hush-2",
  });
  expect(await readFile(saveFile, "utf8")).not.toContain("hush");
});

test("an unreachable server leaves the call in the file, and resume repeats the same round", async () => {
  const server = await serve(
    inputRequired({ a: confirmAsk() }, "s"),
    { cut: "before" },
    { cut: "before" },
    complete("done"),
  );
  const saveFile = join(folder, "call.json");
  const broken = await call(server, [], {
    saveFile,
    answers: ["a=true"],
    connection: { clock: manualClock(), retry: { attempts: 2 } },
  });
  expect(broken.code).toBe(exitCodes.unreachable);
  expect(broken.dialog).toContain(`reprise resume ${saveFile}`);
  expect(await resume(saveFile, [])).toMatchObject({ code: exitCodes.done, output: "done\n" });
  const { _meta: one, ...sent } = server.calls[1]?.params ?? {};
  const { _meta: two, ...repeated } = server.calls[3]?.params ?? {};
  expect(repeated).toEqual(sent);
  const key = "reprise/idempotencyKey";
  expect((two as Record<string, unknown>)[key]).toBe((one as Record<string, unknown>)[key]);
});

test("a tool's error, a refusal, and results of other kinds have their codes and words", async () => {
  const failed = await serve({
    result: {
      resultType: "complete",
      isError: true,
      content: [{ type: "text", text: "no such folder" }],
    },
  });
  expect(await call(failed, [])).toMatchObject({
    code: exitCodes.toolError,
    output: "no such folder\n",
  });
  const refused = await serve({
    error: { code: -32602, message: "the requestState is not valid" },
  });
  const ran = await call(refused, []);
  expect(ran.code).toBe(exitCodes.refusedByServer);
  expect(ran.dialog).toContain("the requestState is not valid");
  const structured = await serve({
    result: { resultType: "complete", content: [], structuredContent: { a: 1 } },
  });
  expect(JSON.parse((await call(structured, [])).output)).toEqual({ a: 1 });
  const json = await call(structured, [], { json: true });
  expect(JSON.parse(json.output)).toMatchObject({ structuredContent: { a: 1 } });
});

test("what can't be used is named before anything is sent", async () => {
  const server = await serve(complete("ok"));
  const existing = join(folder, "mine.txt");
  await writeFile(existing, "mine");
  for (const options of [
    { answers: ["confirm"] },
    { answers: ["confirm=yes"] },
    { answers: ["a=1", "a=2"] },
    { saveFile: existing },
    { url: "nonsense" },
  ]) {
    expect(await call(server, [], options)).toMatchObject({ code: exitCodes.usage, output: "" });
  }
  expect(await resume(join(folder, "none.json"), [])).toMatchObject({ code: exitCodes.usage });
  expect(await resume(existing, [])).toMatchObject({ code: exitCodes.usage });
  expect(await readFile(existing, "utf8")).toBe("mine");
  expect(server.all).toHaveLength(0);
});
