import {
  anonymous,
  CallerError,
  type Context,
  notDone,
  prompt,
  type RunReply,
  resource,
  type ToolDefinition,
  tool,
} from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  asksAnything,
  code,
  type Harness,
  settled,
  startHarness,
  text,
} from "./support/harness.ts";

const description = "d";
const MARKER = "hunter2-internal";

const serving = (handler: ToolDefinition["handler"], output?: ToolDefinition["output"]): Harness =>
  startHarness({
    tools: [{ name: "t", description, ...(output === undefined ? {} : { output }), handler }],
  });
const resultOf = async (value: unknown, output?: ToolDefinition["output"]): Promise<unknown> => {
  const reply = await serving((() => value) as ToolDefinition["handler"], output).call("t");
  return reply.kind === "complete" ? reply.result : reply;
};

describe("what a tool returns", () => {
  test.each([
    ["a text", "hi", { content: [{ type: "text", text: "hi" }] }],
    ["nothing", undefined, { content: [] }],
    ["one content item", { type: "text", text: "a" }, { content: [{ type: "text", text: "a" }] }],
    [
      "content items",
      [{ type: "image", data: "", mimeType: "image/png" }],
      { content: [{ type: "image", data: "", mimeType: "image/png" }] },
    ],
    [
      "a tool result",
      { content: [], isError: true, _meta: { a: 1 } },
      { content: [], isError: true, _meta: { a: 1 } },
    ],
  ])("%s becomes its result", async (_name, value, expected) => {
    expect(await resultOf(value)).toEqual(expected);
  });

  test("with an output schema, the value is structured content and a text of it", async () => {
    const output = z.object({ total: z.number(), note: z.string().default("-") });
    expect(await resultOf({ total: 3 }, output)).toEqual({
      structuredContent: { total: 3, note: "-" },
      content: [{ type: "text", text: '{"total":3,"note":"-"}' }],
    });
  });

  test("structured content in a tool result goes out as the published schema has it", async () => {
    const output = z.object({ total: z.number(), note: z.string().default("-") });
    expect(
      await resultOf(
        { content: [], structuredContent: { total: 3, internal: 1 }, _meta: {} },
        output,
      ),
    ).toEqual({
      content: [{ type: "text", text: '{"total":3,"note":"-"}' }],
      structuredContent: { total: 3, note: "-" },
      _meta: {},
    });
    const failed = { content: [], isError: true };
    expect(await resultOf(failed, output)).toEqual(failed);
  });

  test("the author's own content stands beside structured content, with an output schema or without", async () => {
    const content = [{ type: "text", text: "Three in all." }];
    const own = { content, structuredContent: { total: 3 } };
    expect(await resultOf(own)).toEqual(own);
    expect(await resultOf(own, z.object({ total: z.number() }))).toEqual(own);
    expect(await resultOf({ content: [], structuredContent: [1, null] })).toEqual({
      content: [{ type: "text", text: "[1,null]" }],
      structuredContent: [1, null],
    });
  });

  test.each([
    ["a number without an output schema", 5, undefined],
    ["a tool result that lacks what the output schema wants", { content: [] }, z.object({})],
    ["null", null, undefined],
    ["an object without an output schema", { total: 1 }, undefined],
    ["what the output schema refuses", { total: "x" }, z.object({ total: z.number() })],
    ["a cycle", cyclic(), undefined],
    ["a bigint in structured content", { content: [], structuredContent: 1n }, undefined],
  ])(
    "%s is the author's mistake: an error result that names the tool",
    async (_name, value, output) => {
      const result = (await resultOf(value, output)) as {
        isError?: boolean;
        content: { text: string }[];
      };
      expect(result.isError).toBe(true);
      expect(result.content[0]?.text).toMatch(/"t".*VALUE_UNSUPPORTED/);
    },
  );
});

function cyclic(): object {
  const content: unknown[] = [];
  content.push({ type: "text", text: "x", self: content });
  return { content };
}

describe("what a tool throws", () => {
  test("a CallerError's message goes to the caller, as an error result", async () => {
    const reply = await serving(() => {
      throw new CallerError("That order is unknown.", { cause: new Error(MARKER) });
    }).call("t");
    expect(reply).toEqual({
      kind: "complete",
      result: { isError: true, content: [{ type: "text", text: "That order is unknown." }] },
    });
  });

  const leaks: readonly (readonly [string, (ctx: Context) => unknown])[] = [
    ["an error", () => Promise.reject(new Error(MARKER))],
    ["a text", () => Promise.reject(MARKER)],
    [
      "an error whose message is a getter",
      () => Promise.reject(Object.defineProperty(new Error(), "message", { get: () => MARKER })),
    ],
    ["nothing at all", () => Promise.reject(undefined)],
    [
      "a failed step",
      (ctx) => ctx.step("s", () => Promise.reject(new Error(MARKER)), { retry: { tries: 1 } }),
    ],
    [
      "a step in which nothing was done",
      (ctx) =>
        ctx.step("s", () => Promise.reject(notDone(new Error(MARKER))), { retry: { tries: 1 } }),
    ],
    ["a failed read", (ctx) => ctx.read("r", () => Promise.reject(new Error(MARKER)))],
    [
      "a read of what can't be journaled",
      (ctx) => ctx.read("r", () => new Map([[MARKER, MARKER]])),
    ],
  ];

  test.each(leaks)(
    "%s: the caller gets a neutral sentence with the run's id and nothing of the inside",
    async (_name, body) => {
      const h = serving((_args, ctx) => body(ctx) as Promise<string>);
      const reply = await h.call("t");
      expect(JSON.stringify(reply)).not.toContain(MARKER);
      expect(text(reply)).toMatch(/Run [\w-]+\.$/);
      expect(reply).toMatchObject({ result: { isError: true } });
    },
  );

  test("the log has what the caller does not get, of handlers and of steps", async () => {
    const failing = serving(() => Promise.reject(new Error(MARKER)));
    await failing.call("t");
    expect(failing.log).toContainEqual(
      expect.objectContaining({
        level: "error",
        fields: expect.objectContaining({
          err: expect.objectContaining({ message: MARKER }) as object,
        }) as object,
      }),
    );
    const step = serving(
      (_args, ctx) =>
        ctx.step("s", () => Promise.reject(new Error(MARKER)), {
          retry: { tries: 1 },
        }) as Promise<string>,
    );
    await step.call("t");
    expect(step.log).toContainEqual(
      expect.objectContaining({
        fields: expect.objectContaining({
          err: expect.objectContaining({ message: MARKER }) as object,
          step: "s",
        }) as object,
      }),
    );
  });

  test("a store's failure shows nothing of its cause", async () => {
    const h = serving((_args, ctx) => ctx.step("s", () => "x"));
    h.traffic.before = () => {
      throw new Error(MARKER);
    };
    const reply = await h.call("t");
    expect(code(reply)).toBe("STORE_UNAVAILABLE");
    expect(
      reply.kind === "error" && `${reply.error.message}${JSON.stringify(reply.error.data)}`,
    ).not.toContain(MARKER);
  });

  test("E1: an idempotency key function that throws is an error reply without its message", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: {
            key: () => {
              throw new Error(MARKER);
            },
          },
          handler: () => "x",
        }),
      ],
    });
    const reply = await h.call("t");
    expect(code(reply)).toBe("INTERNAL");
    expect(reply.kind === "error" && reply.error.message).not.toContain(MARKER);
  });
});

describe("prompts and resources", () => {
  const failing = (): never => {
    throw new Error(MARKER);
  };
  const h = startHarness({
    prompts: [
      prompt({ name: "hello", description, handler: () => "hi" }),
      prompt({ name: "broken", description, handler: failing }),
    ],
    resources: [
      resource({ uri: "a://text", name: "text", mimeType: "text/plain", handler: () => "body" }),
      resource({ uri: "a://bytes", name: "bytes", handler: () => new Uint8Array([1]) }),
      resource({ uri: "a://broken", name: "broken", handler: failing }),
    ],
  });
  const get = (method: "prompts/get" | "resources/read", target: string): Promise<RunReply> => {
    const { catalog } = h.runtime;
    const handler =
      method === "prompts/get" ? catalog.findPrompt(target) : catalog.findResource(target)?.handler;
    if (handler === undefined) throw new Error(`no ${target}`);
    return h.runtime.execute({
      method,
      handler,
      target,
      args: { uri: target },
      params: { target },
      caller: anonymous,
      client: { info: undefined, capabilities: asksAnything, protocolVersion: "2026-07-28" },
      requestState: undefined,
      inputResponses: undefined,
      idempotencyKey: undefined,
      logLevel: undefined,
      notifications: undefined,
      isGone: false,
      onGone: () => () => undefined,
    });
  };

  test("a prompt's text becomes one user message", async () => {
    expect(await get("prompts/get", "hello")).toEqual({
      kind: "complete",
      result: { messages: [{ role: "user", content: { type: "text", text: "hi" } }] },
    });
  });

  test("a resource's text and bytes become contents with its URI", async () => {
    expect(await get("resources/read", "a://text")).toEqual({
      kind: "complete",
      result: { contents: [{ uri: "a://text", mimeType: "text/plain", text: "body" }] },
    });
    expect(await get("resources/read", "a://bytes")).toEqual({
      kind: "complete",
      result: { contents: [{ uri: "a://bytes", blob: "AQ==" }] },
    });
  });

  test.each([
    ["prompts/get", "broken"],
    ["resources/read", "a://broken"],
  ] as const)(
    "%s that fails is INTERNAL with the run's id and nothing of the inside",
    async (method, target) => {
      const reply = await get(method, target);
      expect(code(reply)).toBe("INTERNAL");
      expect(reply).toMatchObject({ error: { data: { runId: expect.any(String) as string } } });
      expect(reply.kind === "error" && reply.error.message).not.toContain(MARKER);
    },
  );
});

describe("notifications", () => {
  test("progress never goes back, and only finite values are sent", async () => {
    const sent: number[] = [];
    const h = serving((_args, ctx) => {
      for (const value of [1, 5, 3, 5, Number.NaN, Number.POSITIVE_INFINITY, 6])
        ctx.progress(value, 10);
      return "x";
    });
    await h.call("t", { notifications: { progress: (value) => sent.push(value) } });
    expect(sent).toEqual([1, 5, 6]);
  });

  test("progress does not go back when the same request goes on with another attempt", async () => {
    const sent: number[] = [];
    let attempts = 0;
    const h = serving(async (_args, ctx) => {
      attempts += 1;
      ctx.progress(1);
      if (attempts === 1) ctx.progress(50);
      await ctx.step("s", () =>
        attempts === 1
          ? new Promise<void>((resolve) => h.clock.setTimer(20_000, resolve))
          : undefined,
      );
      ctx.progress(60);
      return "x";
    });
    h.traffic.before = (method) => {
      if (method === "renew") throw new Error("paused");
    };
    const idempotencyKey = "0123456789abcdefghijkl";
    const reply = h.call("t", {
      idempotencyKey,
      notifications: { progress: (value) => sent.push(value) },
    });
    await settled();
    h.clock.advance(10_001);
    const taking = h.beside();
    // Another process took the run over and was stopped: the first request claims anew.
    const gone = { isGone: true, onGone: () => () => undefined, leave: () => undefined };
    void taking.call("t", { idempotencyKey, gone });
    await settled();
    await h.advance(10_000);
    await h.advance(1000);
    await h.advance(1000);
    expect(text(await reply)).toBe("x");
    expect(sent).toEqual([...sent].toSorted((one, other) => one - other));
  });

  test("log sends the requested level and above, and nothing when the request did not opt in", async () => {
    const sent: string[] = [];
    const h = serving((_args, ctx) => {
      for (const level of ["debug", "info", "warning", "emergency"] as const)
        ctx.log(level, { at: level }, "shop");
      return "x";
    });
    const notifications = { log: (level: string) => sent.push(level) };
    await h.call("t", { notifications, logLevel: "warning" });
    await h.call("t", { notifications });
    await h.call("t", { logLevel: "debug" });
    expect(sent).toEqual(["warning", "emergency"]);
  });

  test("nothing is sent after the attempt has ended", async () => {
    const sent: number[] = [];
    const h = serving(async (_args, ctx) => {
      try {
        return String(await ctx.confirm("?"));
      } finally {
        ctx.progress(9);
        ctx.log("error", "late");
      }
    });
    await h.call("t", {
      notifications: { progress: (value) => sent.push(value), log: () => sent.push(0) },
      logLevel: "debug",
    });
    await settled();
    expect(sent).toEqual([]);
  });
});
