/**
 * Questions that stay open while servers come and go: over a restart, over two processes on one data directory, and
 * where they must not: without a store, and when the data is gone.
 */
import { rm } from "node:fs/promises";
import { defineServer, type ServerDefinition, serve, tool } from "reprise";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { type Child, fromSource, startNode } from "../support/childProcess.ts";
import { accepted, RawClient, type RawMessage, type RawRequest } from "../support/rawMcp.ts";
import { temporaryFolder } from "../support/temporary.ts";

const request: RawRequest = { params: { name: "take", arguments: { item: "gold" } } };

const retry = (
  first: RawRequest,
  requestState: string,
  answer: unknown = accepted,
): RawRequest => ({
  ...first,
  params: { ...first.params, requestState, inputResponses: { confirm: answer } },
});

const textOf = ({ result }: RawMessage): string | undefined => result?.content?.[0]?.text;

function rawClient(patienceMs?: number): RawClient {
  const client = new RawClient(16, patienceMs);
  onTestFinished(() => client.close());
  return client;
}

/** A server that asks, and how often its step ran. */
function taker(): { server: ServerDefinition; taken: () => number } {
  let taken = 0;
  const server = defineServer({
    name: "taker",
    tools: [
      tool({
        name: "take",
        description: "Takes an item after a yes",
        input: z.object({ item: z.string() }),
        async handler({ item }, ctx) {
          if (!(await ctx.confirm(`Take ${item}?`))) return "Left.";
          await ctx.step("take", () => {
            taken += 1;
          });
          return "Taken.";
        },
      }),
    ],
  });
  return { server, taken: () => taken };
}

describe("an open question survives", () => {
  // promise P5.26
  test("a restart of the server on the same data", async () => {
    const dataDir = await temporaryFolder();
    const { server, taken } = taker();
    const client = rawClient();
    const before = await serve(server, { port: 0, dataDir });
    const state = await client.ask(before.url, request);
    await before.close();

    const after = await serve(server, { port: 0, dataDir });
    onTestFinished(() => after.close());
    expect(textOf(await client.call(after.url, retry(request, state)))).toBe("Taken.");
    expect(taken()).toBe(1);
  });

  test("a second restart: what was done is told again and not done again", async () => {
    const dataDir = await temporaryFolder();
    const { server, taken } = taker();
    const client = rawClient();
    const answers: (string | undefined)[] = [];
    let state: string | undefined;
    for (let run = 0; run < 3; run += 1) {
      const served = await serve(server, { port: 0, dataDir });
      state ??= await client.ask(served.url, request);
      answers.push(textOf(await client.call(served.url, retry(request, state))));
      await served.close();
    }
    expect(answers).toEqual(["Taken.", "Taken.", "Taken."]);
    expect(taken()).toBe(1);
  });
});

/** A server in a process of its own; its URL is the first line it prints. */
async function startTaker(...args: readonly string[]): Promise<{ url: string; child: Child }> {
  const child = startNode([...fromSource, "test/support/taker/main.ts", ...args]);
  onTestFinished(async () => {
    await child.stop();
  });
  const [, url = ""] = await child.line(/^(http\S+)$/);
  return { url, child };
}

describe("two processes on one data directory", () => {
  test("open each other's states, and do once what both are asked to do", async () => {
    const dataDir = await temporaryFolder();
    const [one, two] = await Promise.all([startTaker(dataDir), startTaker(dataDir)]);
    const client = rawClient();

    const ofOne = await client.ask(one.url, request);
    expect(textOf(await client.call(two.url, retry(request, ofOne)))).toMatch(/^Taken by \d+\.$/);
    const ofTwo = await client.ask(two.url, request);
    expect(textOf(await client.call(one.url, retry(request, ofTwo)))).toMatch(/^Taken by \d+\.$/);
  });

  test("give ten retries at both of them one result, time after time", async () => {
    const dataDir = await temporaryFolder();
    const [one, two] = await Promise.all([startTaker(dataDir), startTaker(dataDir)]);
    const client = rawClient(15_000);
    for (let time = 0; time < 20; time += 1) {
      const state = await client.ask(one.url, request);
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          client.call(at % 2 === 0 ? one.url : two.url, retry(request, state)),
        ),
      );
      const texts = new Set(replies.map((reply) => textOf(reply) ?? JSON.stringify(reply.error)));
      expect([...texts], `time ${time}`).toEqual([expect.stringMatching(/^Taken by \d+\.$/)]);
    }
  });

  test("go on when the one that asked was killed", async () => {
    const dataDir = await temporaryFolder();
    const [one, two] = await Promise.all([startTaker(dataDir), startTaker(dataDir)]);
    const client = rawClient();
    const state = await client.ask(one.url, request);
    await one.child.stop("SIGKILL");
    expect(textOf(await client.call(two.url, retry(request, state)))).toBe(
      `Taken by ${two.child.pid}.`,
    );
  });
});

describe("without a store", () => {
  // promise P5.27
  test("a process opens its own states and refuses those of another", async () => {
    const [one, two] = await Promise.all([startTaker("none"), startTaker("none")]);
    const client = rawClient();
    const state = await client.ask(one.url, request);
    const refused = await client.call(two.url, retry(request, state));
    expect(refused.error).toEqual({ code: -32602, message: "the requestState is not valid" });
    expect(textOf(await client.call(one.url, retry(request, state)))).toBe(
      `Taken by ${one.child.pid}.`,
    );
  });
});

describe("a state whose record is gone", () => {
  const requestStateKey = "a key of this test, which is long enough to be one";

  test.each([
    ["accepted", accepted],
    ["declined", { action: "decline" }],
  ])("runs nothing and says RUN_LOST (%s)", async (_, answer) => {
    const dataDir = await temporaryFolder();
    const { server, taken } = taker();
    const client = rawClient();
    const before = await serve(server, { port: 0, dataDir, requestStateKey });
    const state = await client.ask(before.url, request);
    await before.close();
    await rm(dataDir, { recursive: true });

    const after = await serve(server, { port: 0, dataDir, requestStateKey });
    onTestFinished(() => after.close());
    const lost = await client.call(after.url, retry(request, state, answer));
    expect(lost.result).toBeUndefined();
    expect(lost.error).toMatchObject({ code: -31004, data: { code: "RUN_LOST" } });
    expect(taken()).toBe(0);
  });

  test("is refused as not valid when the key that sealed it is gone with it", async () => {
    const dataDir = await temporaryFolder();
    const { server, taken } = taker();
    const client = rawClient();
    const before = await serve(server, { port: 0, dataDir });
    const state = await client.ask(before.url, request);
    await before.close();
    await rm(dataDir, { recursive: true });

    const after = await serve(server, { port: 0, dataDir });
    onTestFinished(() => after.close());
    const refused = await client.call(after.url, retry(request, state));
    expect(refused.error).toEqual({ code: -32602, message: "the requestState is not valid" });
    expect(taken()).toBe(0);
  });
});
