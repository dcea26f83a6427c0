/** Servers of the handshake era that break, forget and fall silent while a call is open. */
import { expect, onTestFinished, test, vi } from "vitest";
import { codeOf, failure } from "./support/failures.ts";
import { accept, formHost, manualClock } from "./support/hosts.ts";
import { client, textOf } from "./support/legacyOpened.ts";
import { confirmParams, legacyServer } from "./support/legacyServer.ts";

test("a stream that breaks is gone on with from its last event after the server's own pause, and the question is asked once", async () => {
  const server = await legacyServer(async (call, { seen }) => {
    callId = call.id;
    call.raw("retry: 1234");
    call.send({ id: "q", method: "elicitation/create", params: confirmParams("Sure?") }, "event-7");
    await seen(({ body }) => body["id"] === "q");
    call.cut();
  });
  let callId: unknown;
  const resumed: string[] = [];
  server.resume = (last, call) => {
    resumed.push(last);
    call.send({ id: callId, result: { content: [{ type: "text", text: "Deleted." }] } }, "event-8");
    call.end();
  };
  const host = formHost(() => accept({ confirm: true }));
  const clock = manualClock();
  expect(textOf(await (await client(server, { host, clock })).callTool("t"))).toBe("Deleted.");
  expect(resumed).toEqual(["event-7"]);
  expect(clock.waits).toEqual([1234]);
  expect(host.shown).toHaveLength(1);
  expect(server.methods().filter((name) => name === "tools/call")).toHaveLength(1);
});

test.each(["end", "cut"] as const)(
  "a stream without event ids whose server does %s is a lost call: nothing is sent again, since it may have been executed",
  async (how) => {
    const server = await legacyServer((call) => call[how]());
    const connected = await client(server);
    const error = await failure(connected.callTool("t"));
    expect(error).toMatchObject({ code: "SERVER_UNREACHABLE" });
    expect(String((error as Error).message)).toContain("may have executed it");
    expect(server.methods().filter((name) => name === "tools/call")).toHaveLength(1);
  },
);

test.each([502, 500])("a call that is answered with %i alone is not sent again", async (status) => {
  const server = await legacyServer((call) => call.result("twice"));
  server.callStatus.push(status);
  expect(await codeOf((await client(server)).callTool("t"))).toBe("SERVER_UNREACHABLE");
  expect(server.methods().filter((name) => name === "tools/call")).toHaveLength(1);
});

test("a call that finds its session gone (404) is made once in a new session", async () => {
  const server = await legacyServer((call) => call.result("done"));
  const connected = await client(server);
  await connected.callTool("t");
  server.callStatus.push(404);
  expect(textOf(await connected.callTool("t"))).toBe("done");
  expect(server.methods().filter((name) => name === "initialize")).toHaveLength(2);
});

test("a session that is gone again at once is an error and no loop", async () => {
  const server = await legacyServer((call) => call.result("done"));
  const connected = await client(server);
  server.callStatus.push(404, 404, 404);
  expect(await failure(connected.callTool("t"))).toMatchObject({ status: 404 });
  expect(server.methods().filter((name) => name === "initialize")).toHaveLength(2);
});

test("an answer that a gateway lost is sent again; one that can't be delivered ends the call", async () => {
  const server = await legacyServer(async (call) => {
    await call.ask("q", "elicitation/create", confirmParams("Sure?"));
    call.result("done");
  });
  server.answerStatus.push(502);
  const host = formHost(() => accept({ confirm: true }));
  expect(textOf(await (await client(server, { host })).callTool("t"))).toBe("done");
  expect(server.methods().filter((name) => name === "response")).toHaveLength(2);
  expect(host.shown).toHaveLength(1);

  const deaf = await legacyServer((call) =>
    call.send({ id: "q", method: "elicitation/create", params: confirmParams("Sure?") }),
  );
  deaf.answerStatus.push(502, 502, 502);
  const connected = await client(deaf, { retry: { attempts: 3 } });
  expect(await codeOf(connected.callTool("t"))).toBe("SERVER_UNREACHABLE");
});

test("a server that is silent is given up after requestTimeoutMs, but not while it waits for the person", async () => {
  const server = await legacyServer(async (call) => {
    // After the answer it says nothing more.
    await call.ask("q", "elicitation/create", confirmParams("Sure?"));
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const host = formHost(async () => {
    await vi.advanceTimersByTimeAsync(3_600_000);
    return accept({ confirm: true });
  });
  const connected = await client(server, { host, era: "legacy", requestTimeoutMs: 60_000 });
  let ended = false;
  const code = codeOf(connected.callTool("t")).finally(() => {
    ended = true;
  });
  await server.seen(({ body }) => body["id"] === "q" && body["method"] === undefined);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await code).toBe("SERVER_UNREACHABLE");
});
