import { AskCancelledError, CallerError, ReadError, StepError, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  accept,
  type CallOptions,
  cancel,
  code,
  decline,
  type Harness,
  no,
  question,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";

/** Calls, then answers each question with the next set of answers. */
async function dialogue(
  h: Harness,
  name: string,
  rounds: readonly Record<string, unknown>[],
  options: CallOptions = {},
): Promise<ReturnType<typeof h.call>> {
  let reply = await h.call(name, options);
  for (const inputResponses of rounds) {
    const { requestState } = question(reply);
    reply = await h.call(name, { ...options, requestState, inputResponses });
  }
  return reply;
}

const confirms = (onCancel?: "throw") =>
  tool({
    name: "t",
    description,
    async handler(_args, ctx) {
      try {
        return String(await ctx.confirm("Sure?", onCancel === undefined ? {} : { onCancel }));
      } catch (error) {
        if (error instanceof AskCancelledError) return `cancelled ${error.key}`;
        throw error;
      }
    },
  });

describe("ctx.confirm", () => {
  test("asks under the key confirm with exactly one required boolean", async () => {
    const h = startHarness({ tools: [confirms()] });
    expect(question(await h.call("t")).inputRequests).toEqual({
      confirm: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Sure?",
          requestedSchema: {
            type: "object",
            properties: { confirm: { type: "boolean" } },
            required: ["confirm"],
          },
        },
      },
    });
  });

  test.each([
    ["accept with yes", yes, "true"],
    ["accept with no", no, "false"],
    ["decline", decline, "false"],
    ["cancel", cancel, "false"],
  ])("%s gives %s", async (_name, answer, expected) => {
    const h = startHarness({ tools: [confirms()] });
    expect(text(await dialogue(h, "t", [{ confirm: answer }]))).toBe(expected);
  });

  test("onCancel throw tells cancel from decline", async () => {
    const h = startHarness({ tools: [confirms("throw")] });
    expect(text(await dialogue(h, "t", [{ confirm: cancel }]))).toBe("cancelled confirm");
    expect(text(await dialogue(h, "t", [{ confirm: decline }]))).toBe("false");
  });

  test.each([
    ["an accept without a boolean", { action: "accept", content: { confirm: "yes" } }],
    ["an accept without content", { action: "accept" }],
    ["an unknown action", { action: "maybe", content: { confirm: true } }],
    ["no object", "yes"],
    [
      "an inherited yes",
      JSON.parse('{"action":"accept","content":{"__proto__":{"confirm":true}}}') as unknown,
    ],
  ])("%s is asked again", async (_name, answer) => {
    const h = startHarness({ tools: [confirms()] });
    const again = question(await dialogue(h, "t", [{ confirm: answer }]));
    expect(Object.keys(again.inputRequests)).toEqual(["confirm"]);
    const reply = await h.call("t", {
      requestState: again.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("true");
  });
});

describe("ctx.elicit", () => {
  const form = z.object({
    city: z.string(),
    nights: z.number().int().min(1),
    breakfast: z.boolean().default(false),
    room: z.enum(["single", "double"]),
    extras: z.array(z.enum(["sauna", "bike"])).optional(),
  });
  const books = tool({
    name: "t",
    description,
    async handler(_args, ctx) {
      return JSON.stringify(await ctx.elicit("Where?", form));
    },
  });

  test("gives the accepted content with the schema's defaults, typed", async () => {
    const h = startHarness({ tools: [books] });
    const content = { city: "Bern", nights: 2, room: "double", extras: ["sauna"] };
    const reply = await dialogue(h, "t", [{ elicit: accept(content) }]);
    expect(JSON.parse(text(reply))).toEqual({
      action: "accept",
      content: { ...content, breakfast: false },
    });
  });

  test.each([decline, cancel])("%j is told as it is", async (answer) => {
    const h = startHarness({ tools: [books] });
    expect(JSON.parse(text(await dialogue(h, "t", [{ elicit: answer }])))).toEqual(answer);
  });

  test("content that the schema refuses is asked again under the same key", async () => {
    const h = startHarness({ tools: [books] });
    const again = question(
      await dialogue(h, "t", [{ elicit: accept({ city: "Bern", nights: 0, room: "double" }) }]),
    );
    expect(Object.keys(again.inputRequests)).toEqual(["elicit"]);
  });

  test("an asynchronous refinement decides as well", async () => {
    const taken = z.object({ name: z.string().refine(async (name) => name !== "admin") });
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          handler: async (_a, ctx) => JSON.stringify(await ctx.elicit("Name?", taken)),
        }),
      ],
    });
    question(await dialogue(h, "t", [{ elicit: accept({ name: "admin" }) }]));
    const reply = await dialogue(h, "t", [{ elicit: accept({ name: "eve" }) }]);
    expect(JSON.parse(text(reply))).toMatchObject({ content: { name: "eve" } });
  });
});

describe("ctx.elicitUrl", () => {
  const visits = tool({
    name: "t",
    description,
    async handler(_args, ctx) {
      return JSON.stringify(
        await ctx.elicitUrl("Pay here", ({ id }) => `https://pay.example/${id}`),
      );
    },
  });

  test("asks in url mode, with an id that stays the same on every attempt", async () => {
    const h = startHarness({ tools: [visits] });
    const first = question(await h.call("t"));
    const again = question(
      await h.call("t", { requestState: first.requestState, inputResponses: {} }),
    );
    expect(first.inputRequests["elicitUrl"]).toMatchObject({
      params: { mode: "url", message: "Pay here" },
    });
    expect(again.inputRequests).toEqual(first.inputRequests);
  });

  test("a decline is told as it is", async () => {
    const h = startHarness({ tools: [visits] });
    expect(JSON.parse(text(await dialogue(h, "t", [{ elicitUrl: decline }])))).toEqual({
      action: "decline",
    });
  });
});

describe("ctx.sample and ctx.listRoots", () => {
  test("sample gives role, content, model and the joined text", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const { text: written, model } = await ctx.sample({
              messages: [{ role: "user", content: { type: "text", text: "Sum up" } }],
              maxTokens: 10,
            });
            return `${model}: ${written}`;
          },
        }),
      ],
    });
    const content = [
      { type: "text", text: "all " },
      { type: "text", text: "well" },
    ];
    const reply = await dialogue(h, "t", [{ sample: { role: "assistant", model: "m", content } }]);
    expect(text(reply)).toBe("m: all well");
  });

  test("listRoots gives the roots, and a list with a root that has no uri is asked again", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          handler: async (_a, ctx) => JSON.stringify(await ctx.listRoots()),
        }),
      ],
    });
    question(await dialogue(h, "t", [{ listRoots: { roots: [{ name: "x" }] } }]));
    const roots = [{ uri: "file:///a", name: "a" }, { uri: "file:///b" }];
    expect(JSON.parse(text(await dialogue(h, "t", [{ listRoots: { roots } }])))).toEqual(roots);
  });
});

describe("values of steps and reads", () => {
  test("the handler receives what was decoded from the journal, the first time too", async () => {
    const live = { when: new Date(5), nested: { n: 1n } };
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const step = await ctx.step("s", () => live);
            const read = await ctx.read("r", () => live);
            expect(step).toStrictEqual(live);
            expect(read).toStrictEqual(live);
            expect(step).not.toBe(live);
            expect(read.nested).not.toBe(live.nested);
            return "same";
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toBe("same");
  });

  test("a failed read throws ReadError with the message, and again on the next attempt without running", async () => {
    let reads = 0;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const seen = await ctx
              .read("r", () => {
                reads += 1;
                throw new Error("down");
              })
              .catch((error: unknown) => error);
            await ctx.confirm("?");
            return seen instanceof ReadError ? `${seen.read}: ${seen.message}` : "?";
          },
        }),
      ],
    });
    expect(text(await dialogue(h, "t", [{ confirm: yes }]))).toBe("r: down");
    expect(reads).toBe(1);
  });

  test("a step's final failure is thrown again on every attempt as StepError, and not run again", async () => {
    let tries = 0;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const seen = await ctx
              .step(
                "s",
                () => {
                  tries += 1;
                  throw new Error("refused");
                },
                { retry: { tries: 1 } },
              )
              .catch((error: unknown) => error);
            await ctx.confirm("?");
            if (seen instanceof StepError)
              throw new CallerError(`${seen.step}: ${seen.recorded.message}`);
            return "?";
          },
        }),
      ],
    });
    expect(text(await dialogue(h, "t", [{ confirm: yes }]))).toBe("s: refused");
    expect(tries).toBe(1);
  });
});

describe("ctx.state", () => {
  test("values are kept over rounds; set, has, delete and get agree", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const count = Number(ctx.state.get("count") ?? 0);
            ctx.state.set("count", String(count + 1));
            ctx.state.set("__proto__", "kept");
            const gone = [ctx.state.has("temp"), ctx.state.delete("temp")];
            if (count === 0) ctx.state.set("temp", "x");
            await ctx.confirm("?");
            return JSON.stringify([
              ctx.state.get("count"),
              ctx.state.get("__proto__"),
              gone,
              ctx.state.has("temp"),
            ]);
          },
        }),
      ],
    });
    expect(JSON.parse(text(await dialogue(h, "t", [{ confirm: yes }])))).toEqual([
      "2",
      "kept",
      [true, true],
      false,
    ]);
  });

  test("takes strings only", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          handler(_args, ctx) {
            ctx.state.set("n", 1 as unknown as string);
            return "x";
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toContain("VALUE_UNSUPPORTED");
  });
});

describe("uuid, random and now", () => {
  test("are the same on every attempt of the run, differ by name and run, and cost no write", async () => {
    const seen: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            seen.push(JSON.stringify([ctx.uuid("a"), ctx.uuid("b"), ctx.random("a"), ctx.now()]));
            await ctx.confirm("?");
            return "x";
          },
        }),
      ],
    });
    const asked = question(await h.call("t"));
    await h.advance(5000);
    await h.call("t", { requestState: asked.requestState, inputResponses: { confirm: yes } });
    await h.call("t");
    const [first, again, other] = seen.map((line) => JSON.parse(line) as unknown[]);
    expect(again).toEqual(first);
    expect(first?.[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(new Set([...(first?.slice(0, 2) ?? []), ...(other?.slice(0, 2) ?? [])]).size).toBe(4);
    expect(first?.[2]).toBeGreaterThanOrEqual(0);
    expect(first?.[2]).toBeLessThan(1);
  });

  test("now is the time of the newest entry delivered, on replay as on the first attempt", async () => {
    const seen: number[][] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const times = [ctx.now()];
            await ctx.step("s", () => h.clock.advance(700));
            times.push(ctx.now());
            seen.push(times);
            await ctx.confirm("?");
            return "x";
          },
        }),
      ],
    });
    const start = h.clock.now();
    const asked = question(await h.call("t"));
    await h.advance(60_000);
    await h.call("t", { requestState: asked.requestState, inputResponses: { confirm: yes } });
    expect(seen).toEqual([
      [start, start + 700],
      [start, start + 700],
    ]);
  });
});

describe("context of the request", () => {
  test("run, caller and client are those of the request; the round counts up", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            await ctx.confirm("?");
            return JSON.stringify([ctx.run, ctx.caller.principal, ctx.client.protocolVersion]);
          },
        }),
      ],
    });
    const [run, principal, version] = JSON.parse(
      text(await dialogue(h, "t", [{ confirm: yes }])),
    ) as [{ id: string; round: number }, string, string];
    expect(run.round).toBe(1);
    expect(run.id).toBe(h.store.snapshot().runs[0]?.origin.runId);
    expect([principal, version]).toEqual(["anonymous", "2026-07-28"]);
  });

  test("a tool that is refused a question says so with the capability that is missing", async () => {
    const h = startHarness({ tools: [confirms()] });
    const reply = await h.call("t", { capabilities: { elicitation: { url: {} } } });
    expect(code(reply)).toBe("MISSING_CAPABILITY");
    expect(reply).toMatchObject({ error: { data: { requiredCapabilities: { elicitation: {} } } } });
  });
});
