/** `reprise call` and `reprise resume` on a server of the handshake era, with a scripted person. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes, runCall } from "@reprise/client";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "./support/hosts.ts";
import { confirmParams, legacyServer } from "./support/legacyServer.ts";
import { person, screen } from "./support/terminal.ts";
import { call, resume } from "./support/terminalRun.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "reprise-client-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

test("--save is refused before anything is called, with an exit code of its own and no file", async () => {
  const server = await legacyServer((open) => open.result("done"));
  const directory = await folder();
  const ran = await call(server, [], { saveFile: join(directory, "call.json") });
  expect(ran.code).toBe(exitCodes.cannotWait);
  expect(ran.dialog).toContain("CALL_CANNOT_WAIT");
  expect(server.methods()).not.toContain("tools/call");
  expect(await readdir(directory)).toEqual([]);
});

test("a saved call is not sent to a server that has become one of the handshake era, and its file stays", async () => {
  const server = await legacyServer((open) => open.result("done"));
  const directory = await folder();
  const file = join(directory, "call.json");
  const saved = {
    format: "reprise.call",
    version: 1,
    url: server.url,
    request: { method: "tools/call", params: { name: "t", arguments: {} } },
    idempotencyKey: "k".repeat(32),
    round: 1,
    pending: { inputRequests: {}, answers: {}, requestState: "sealed" },
  };
  await writeFile(file, JSON.stringify(saved));
  expect((await resume(file, [])).code).toBe(exitCodes.cannotWait);
  expect(server.methods()).not.toContain("tools/call");
  expect(await readdir(directory)).toEqual(["call.json"]);
});

test("a page is shown in full, visited after a word only, and its completion is told", async () => {
  const server = await legacyServer(async (open) => {
    const page = { mode: "url", message: "Pay", url: "https://pay.test/i/1", elicitationId: "e" };
    const { result } = await open.ask("u", "elicitation/create", page);
    open.send({ method: "notifications/elicitation/complete", params: { elicitationId: "e" } });
    open.result(JSON.stringify(result));
  });
  const opened: string[] = [];
  const openUrl = async (href: string): Promise<void> => void opened.push(href);
  const ran = await call(server, ["", "open", "", "done"], { openUrl });
  expect(ran).toMatchObject({ code: 0, output: '{"action":"accept"}\n' });
  expect(opened).toEqual(["https://pay.test/i/1"]);
  expect(ran.dialog).toContain("https://pay.test/i/1");
  expect(ran.dialog).toContain("says that what it wanted at pay.test is complete");
});

test("a question that the server takes back leaves the screen, and the person is still there for the next", async () => {
  const server = await legacyServer(async (open) => {
    open.send({ id: "one", method: "elicitation/create", params: confirmParams("Question one?") });
    await shown;
    open.send({ method: "notifications/cancelled", params: { requestId: "one" } });
    const { result } = await open.ask("two", "elicitation/create", confirmParams("Question two?"));
    open.result(JSON.stringify(result));
  });
  let show = (): void => undefined;
  const shown = new Promise<void>((resolve) => {
    show = resolve;
  });
  const { input, dialog } = person([
    { when: "confirm: ", type: show },
    { when: "Question two?", type: "yes" },
    { when: "This is what would be sent", type: "send" },
  ]);
  const output = screen();
  const code = await runCall({
    url: server.url,
    tool: "t",
    input,
    output: output.stream,
    dialog: dialog.stream,
    color: false,
    connection: { clock: manualClock() },
  });
  expect(code).toBe(0);
  expect(output.text()).toBe('{"action":"accept","content":{"confirm":true}}\n');
  expect(dialog.text()).toContain("The question is no longer open.");
});

test("a person without --save is not offered to wait, and the end of input accepts nothing", async () => {
  const server = await legacyServer((open) =>
    open.send({ id: "q", method: "elicitation/create", params: confirmParams("Sure?") }),
  );
  const ran = await call(server, [":later", "", ""]);
  expect(ran.code).toBe(exitCodes.unanswered);
  expect(ran.dialog).toContain("This call can't wait");
  expect(ran.dialog).toContain("--answer confirm=true (or false)");
  await server.seen(({ body }) => body["method"] === "notifications/cancelled");
  expect(server.methods()).not.toContain("response");
});
