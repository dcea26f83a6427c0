import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  code,
  type Harness,
  person,
  question,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const MARKER = "marker-of-the-author";

const marked = (
  effects: "once" | "repeatable",
  body?: (ctx: Context) => Promise<unknown>,
): ToolDefinition =>
  tool({
    name: "t",
    description,
    effects,
    input: z.object({ id: z.string().default("a") }),
    async handler(_args, ctx) {
      await body?.(ctx);
      return String(await ctx.confirm(`${MARKER}?`));
    },
  });

/** Every part of a token, decoded, so far as it can be read without a key. */
const readable = (token: string): string =>
  token
    .split(".")
    .map((part) => Buffer.from(part, "base64url").toString("latin1"))
    .join("\n");

const stateOf = async (h: Harness): Promise<string> => question(await h.call("t")).requestState;

describe("what a token says", () => {
  // promise P4.1.8
  test("T1: of a once run, nothing that the author or the client wrote", async () => {
    const h = startHarness({
      tools: [
        marked("once", async (ctx) => {
          ctx.state.set("s", MARKER);
          await ctx.step("s", () => MARKER);
          await ctx.read("r", () => MARKER);
        }),
      ],
    });
    const token = await stateOf(h);
    expect(readable(token)).not.toContain(MARKER);
    expect(token.split(".")).toHaveLength(3);
  });

  // promise P4.1.7
  test("T2: of a repeatable run with a step or read value, nothing that can be read without the key", async () => {
    for (const body of [
      (ctx: Context) => ctx.step("s", () => MARKER),
      (ctx: Context) => ctx.read("r", () => MARKER),
    ]) {
      const token = await stateOf(startHarness({ tools: [marked("repeatable", body)] }));
      expect(readable(token)).not.toContain(MARKER);
      expect(token.split(".")).toHaveLength(5);
    }
  });

  test("T2: a repeatable run without such values is signed, and goes on from its token alone on another instance", async () => {
    const h = startHarness({ tools: [marked("repeatable")] });
    const token = await stateOf(h);
    expect(token.split(".")).toHaveLength(3);
    const elsewhere = startHarness({ tools: [marked("repeatable")] });
    expect(
      text(await elsewhere.call("t", { requestState: token, inputResponses: { confirm: yes } })),
    ).toBe("true");
  });

  test("4.1: a repeatable run's step result and read come back from the token, and are not run again", async () => {
    const runs: string[] = [];
    const body = async (ctx: Context): Promise<void> => {
      await ctx.step("s", () => runs.push("s"));
      await ctx.read("r", () => runs.push("r"));
    };
    const h = startHarness({ tools: [marked("repeatable", body)] });
    const token = await stateOf(h);
    await h.call("t", { requestState: token, inputResponses: { confirm: yes } });
    expect(runs).toEqual(["s", "r"]);
  });
});

describe("a state that is too large", () => {
  // promise P4.1.9
  test("is refused with STATE_TOO_LARGE that names the largest parts and advises once", async () => {
    const h = startHarness({
      tools: [
        marked("repeatable", async (ctx) => {
          await ctx.step("small", () => "x");
          await ctx.read("huge list", () => "y".repeat(40_000));
        }),
      ],
    });
    const reply = await h.call("t");
    expect(code(reply)).toBe("STATE_TOO_LARGE");
    expect(reply).toMatchObject({
      error: { message: expect.stringMatching(/huge list.*effects: "once"/) as string },
    });
  });

  test("never happens to a once run", async () => {
    const h = startHarness({
      tools: [marked("once", (ctx) => ctx.read("huge list", () => "y".repeat(400_000)))],
    });
    expect((await stateOf(h)).length).toBeLessThan(1000);
  });

  test("counts maxRequestStateBytes when that is less than the sealer's own limit", async () => {
    const h = startHarness(
      { tools: [marked("repeatable", (ctx) => ctx.read("list", () => "y".repeat(4000)))] },
      { maxRequestStateBytes: 2048 },
    );
    expect(code(await h.call("t"))).toBe("STATE_TOO_LARGE");
  });
});

describe("who may bring a state back", () => {
  const entered: string[] = [];
  const server = {
    tools: [
      tool({
        name: "t",
        description,
        input: z.object({ id: z.string().default("a") }),
        async handler({ id }, ctx) {
          entered.push(id);
          return String(await ctx.confirm("?"));
        },
      }),
      tool({
        name: "u",
        description,
        input: z.object({ id: z.string().default("a") }),
        handler: async (_a, ctx) => String(await ctx.confirm("?")),
      }),
    ],
  };

  // promise P5.29
  test("T3: every refusal is the same error, enters no handler, and tells its cause to the log alone", async () => {
    const h = startHarness(server);
    const token = question(await h.call("t", { caller: person("ann") })).requestState;
    const bring = { requestState: token, inputResponses: { confirm: yes } };
    entered.length = 0;
    const replies = [
      await h.call("t", { ...bring, caller: person("bob") }),
      await h.call("t", { ...bring, caller: person("ann"), args: { id: "b" } }),
      await h.call("u", { ...bring, caller: person("ann") }),
      await h.beside({ name: "another server" }).call("t", { ...bring, caller: person("ann") }),
      await h.call("t", { ...bring, requestState: `${token.slice(0, -4)}AAAA` }),
      await h.call("t", { ...bring, requestState: "" }),
      await h.call("t", { ...bring, requestState: 5 }),
      await h.call("t", { ...bring, requestState: null }),
      await h.call("t", { ...bring, requestState: "x".repeat(40_000) }),
    ];
    for (const reply of replies) {
      expect(code(reply)).toBe("REQUEST_STATE_INVALID");
      expect(reply).toEqual(replies[0]);
    }
    expect(entered).toEqual([]);
    const causes = h.log.flatMap(({ fields }) =>
      fields["event"] === "request_state_refused" ? [fields["cause"]] : [],
    );
    expect(causes).toEqual([
      "principal",
      "params",
      "operation",
      expect.any(String),
      "malformed",
      "malformed",
      "malformed",
      expect.any(String),
    ]);
  });

  // promise P5.6
  test("arguments in another order and other _meta are the same request", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          input: z.object({ a: z.number(), b: z.number() }),
          handler: async (_a, ctx) => String(await ctx.confirm("?")),
        }),
      ],
    });
    const { requestState } = question(await h.call("t", { args: { a: 1, b: 2 } }));
    const reply = await h.call("t", {
      args: { b: 2, a: 1 },
      requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("true");
  });

  // promise P4.1.4
  test("E2: a state decides its run's lane, whatever a deploy made of the tool", async () => {
    const h = startHarness({ tools: [marked("repeatable")] });
    const token = await stateOf(h);
    const calls = h.traffic.calls.length;
    const deployed = h.beside({ tools: [marked("once")] });
    expect(
      text(await deployed.call("t", { requestState: token, inputResponses: { confirm: yes } })),
    ).toBe("true");
    expect(h.traffic.calls).toHaveLength(calls);

    const once = await stateOf(deployed);
    expect(text(await h.call("t", { requestState: once, inputResponses: { confirm: yes } }))).toBe(
      "true",
    );
    expect(h.store.snapshot().runs[0]?.head.status).toBe("completed");
  });

  test("a once run's state brought to a server without a store is refused like any other", async () => {
    const h = startHarness({ tools: [marked("once")] });
    const token = await stateOf(h);
    const storeless = startHarness({ tools: [marked("once")] }, { store: "none" });
    expect(
      code(await storeless.call("t", { requestState: token, inputResponses: { confirm: yes } })),
    ).toBe("REQUEST_STATE_INVALID");
  });

  test("a repeatable run's state is refused once it has expired", async () => {
    const h = startHarness({ tools: [marked("repeatable")] }, { requestStateLifetime: "1h" });
    const token = await stateOf(h);
    h.clock.advance(3_600_000);
    expect(code(await h.call("t", { requestState: token, inputResponses: { confirm: yes } }))).toBe(
      "REQUEST_STATE_INVALID",
    );
  });

  // promise P5.11
  test("answerWithin of a handler shortens its states, and the host is told until when", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          answerWithin: "10m",
          handler: async (_a, ctx) => String(await ctx.confirm("?")),
        }),
      ],
    });
    const asked = question(await h.call("t"));
    expect(asked.answerBeforeMs - h.clock.now()).toBe(600_000);
  });
});
