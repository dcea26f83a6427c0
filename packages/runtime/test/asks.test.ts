import { AskCancelledError, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  accept,
  cancel,
  code,
  decline,
  dialogue,
  no,
  question,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";

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

  // promise P3.7.1
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

describe("an ask that the client can't be asked", () => {
  test("a tool that is refused a question says so with the capability that is missing", async () => {
    const h = startHarness({ tools: [confirms()] });
    const reply = await h.call("t", { capabilities: { elicitation: { url: {} } } });
    expect(code(reply)).toBe("MISSING_CAPABILITY");
    expect(reply).toMatchObject({ error: { data: { requiredCapabilities: { elicitation: {} } } } });
  });
});
