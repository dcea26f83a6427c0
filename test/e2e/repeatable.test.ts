/**
 * Repeatable handlers don't touch the store, counted at the store port on a server that serves once tools as well.
 */
import { defineServer, prompt, resource, tool } from "reprise";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { serveComposed } from "../support/composed.ts";
import { countingStore, type StoreCalls } from "../support/countingStore.ts";
import { accepted, RawClient, type RawMessage, type RawRequest } from "../support/rawMcp.ts";

const requestStateKey = "a key of this test, which is long enough to be one";
const word = z.object({ word: z.string() });

const server = defineServer({
  name: "mixed",
  tools: [
    tool({
      name: "once",
      description: "Asks, then does",
      async handler(_args, ctx) {
        if (!(await ctx.confirm("Do it?"))) return "Not done.";
        await ctx.step("do", () => "done");
        return "Done.";
      },
    }),
    tool({
      name: "plain",
      description: "Asks nothing",
      annotations: { readOnlyHint: true },
      handler: () => "Hello.",
    }),
    tool({
      name: "all",
      description: "Uses everything that ctx has",
      effects: "repeatable",
      async handler(_args, ctx) {
        const found = await ctx.read("find", () => "found");
        await ctx.step("look", () => "seen");
        ctx.state.set("word", ctx.uuid("id"));
        const [form, sure] = await Promise.all([
          ctx.elicit("Which word?", word),
          ctx.confirm("Sure?"),
        ]);
        const written = await ctx.sample({
          messages: [{ role: "user", content: { type: "text", text: found } }],
          maxTokens: 10,
        });
        const said = form.action === "accept" ? form.content.word : "nothing";
        return `${said} ${sure} ${written.text} ${ctx.state.has("word")}`;
      },
    }),
    tool({
      name: "fails",
      description: "Fails after its question",
      effects: "repeatable",
      async handler(_args, ctx) {
        await ctx.confirm("Fail?");
        throw new Error("as promised");
      },
    }),
  ],
  prompts: [
    prompt({
      name: "draft",
      description: "Asks for a word",
      async handler(_args, ctx) {
        const form = await ctx.elicit("Which word?", word);
        return form.action;
      },
    }),
  ],
  resources: [
    resource({
      name: "report",
      uri: "mixed://report",
      async handler(_args, ctx) {
        return (await ctx.confirm("Read?")) ? "Read." : "Not read.";
      },
    }),
  ],
});

let client: RawClient;
let url: string;
let calls: StoreCalls;

beforeEach(async () => {
  client = new RawClient();
  onTestFinished(() => client.close());
  url = await serveComposed(server, {
    requestStateKey,
    wrapStore(store) {
      const counting = countingStore(store);
      ({ calls } = counting);
      return counting.store;
    },
  });
});

const answers: Readonly<Record<string, unknown>> = {
  confirm: accepted,
  elicit: { action: "accept", content: { word: "gold" } },
  sample: { role: "assistant", model: "none", content: { type: "text", text: "written" } },
};

/** Calls until there is a result or an error, and repeats each retry, as clients do after a lost response. */
async function toTheEnd(request: RawRequest): Promise<RawMessage> {
  let message = await client.call(url, request);
  while (message.result?.resultType === "input_required") {
    const { inputRequests = {}, requestState } = message.result;
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests).map((key) => [key, answers[key]]),
    );
    const retry = { ...request, params: { ...request.params, requestState, inputResponses } };
    message = await client.call(url, retry);
    await client.call(url, retry);
  }
  return message;
}

const call = (name: string): RawRequest => ({ params: { name, arguments: {} } });

describe("the store is touched zero times", () => {
  // promise P4.1.6
  test("by a tool that uses everything ctx has, over two rounds", async () => {
    const { result } = await toTheEnd(call("all"));
    expect(result?.content?.[0]?.text).toBe("gold true written true");
    expect(calls).toEqual({});
  });

  test("by tools that ask nothing or fail, and by calls that are refused", async () => {
    expect((await toTheEnd(call("plain"))).result?.content?.[0]?.text).toBe("Hello.");
    expect((await toTheEnd(call("fails"))).result?.isError).toBe(true);
    const state = await client.ask(url, call("all"));
    const altered = {
      ...call("all"),
      params: { ...call("all").params, requestState: `${state}A` },
    };
    expect((await client.call(url, altered)).error?.code).toBe(-32602);
    expect(calls).toEqual({});
  });

  test("by prompts, resources, lists and discovery", async () => {
    const draft = { method: "prompts/get", params: { name: "draft" } };
    expect((await toTheEnd(draft)).error).toBeUndefined();
    const report = { method: "resources/read", params: { uri: "mixed://report" } };
    expect((await toTheEnd(report)).error).toBeUndefined();
    for (const method of ["server/discover", "tools/list", "prompts/list", "resources/list"]) {
      expect((await client.call(url, { method, params: {} })).error, method).toBeUndefined();
    }
    expect(calls).toEqual({});
  });
});

test("a once tool on the same server is counted: the counter would show it", async () => {
  const { result } = await toTheEnd(call("once"));
  expect(result?.content?.[0]?.text).toBe("Done.");
  expect(calls).toMatchObject({ createRun: 1, claimRound: 2, endRound: 1 });
});
