/**
 * URL asks that a web page finishes: who may complete them, how long an accept waits, how often it is asked again.
 */
import { isRepriseError } from "@reprise/errors";
import type { JsonObject, JsonValue } from "@reprise/journal";
import { type Context, type ElicitUrlOptions, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  decline,
  type Harness,
  person,
  question,
  settled,
  startHarness,
  text,
} from "./support/harness.ts";

const description = "d";
const accepted: JsonObject = { action: "accept" };
const alice = person("alice");

type Effects = "once" | "repeatable";

function pays(effects: Effects, options: ElicitUrlOptions = {}): Harness {
  const handler = async (_args: unknown, ctx: Context): Promise<string> => {
    const url = ({ id }: { readonly id: string }): string => `https://pay.example/${id}`;
    return JSON.stringify(await ctx.elicitUrl("Pay here", url, options));
  };
  return startHarness({ tools: [tool({ name: "t", description, effects, handler })] }, {}, true);
}

interface Asked {
  readonly requestState: string;
  readonly id: string;
  readonly message: string;
}

function asked(reply: Awaited<ReturnType<Harness["call"]>>): Asked {
  const { requestState, inputRequests, elicitationIds } = question(reply);
  const params = inputRequests["elicitUrl"]?.["params"] as JsonObject;
  const id = elicitationIds?.["elicitUrl"] ?? "";
  expect(params["url"]).toBe(`https://pay.example/${id}`);
  return { requestState, id, message: JSON.stringify(params["message"]) };
}

/** The person accepts; nothing is awaited that needs time. */
async function accepts(h: Harness, { requestState }: Asked) {
  const inputResponses = { elicitUrl: accepted };
  const reply = h.call("t", { caller: alice, requestState, inputResponses });
  await settled();
  return reply;
}

function completes(h: Harness, id: string, data?: JsonValue, principal = "alice") {
  const completion = data === undefined ? { principal } : { principal, data };
  return h.runtime.elicitations.complete(id, completion);
}

const refused = (error: unknown): boolean => isRepriseError(error, "ELICITATION_REFUSED");

describe.each(["once", "repeatable"] as const)(
  "a page of a URL ask, in a %s handler",
  (effects) => {
    test("that is completed before the person accepts gives the handler its data at once", async () => {
      const h = pays(effects);
      const first = asked(await h.call("t", { caller: alice }));
      expect(first.id).toMatch(/^[A-Za-z0-9_-]{22,64}$/);
      expect(await completes(h, first.id, { card: "visa" })).toBe(true);
      const reply = await accepts(h, first);
      expect(JSON.parse(text(reply))).toEqual({
        action: "accept",
        completed: true,
        data: { card: "visa" },
      });
    });

    test("that is completed in another process while the accept waits wakes it", async () => {
      const h = pays(effects);
      const other = h.beside();
      const first = asked(await h.call("t", { caller: alice }));
      const { requestState } = first;
      const reply = h.call("t", {
        caller: alice,
        requestState,
        inputResponses: { elicitUrl: accepted },
      });
      await settled();
      await completes(other, first.id);
      expect(JSON.parse(text(await reply))).toEqual({ action: "accept", completed: true });
    });

    test.each([
      ["replayed", false],
      ["kept where it waits", true],
    ] as const)(
      "that is not completed is asked for again in the same question, 5 times, and then told so, the handler being %s",
      async (_title, keepsHandler) => {
        const h = pays(effects, { waitMs: 1_000 });
        const answers = async (requestState: string) => {
          const inputResponses = { elicitUrl: accepted };
          const reply = h.call("t", { caller: alice, requestState, inputResponses, keepsHandler });
          await settled();
          await h.advance(1_000);
          return reply;
        };
        let now = asked(await h.call("t", { caller: alice, keepsHandler }));
        const { id } = now;
        for (let again = 1; again <= 5; again += 1) {
          now = asked(await answers(now.requestState));
          expect(now.id).toBe(id);
          expect(now.message).toContain("Pay here (Still waiting for the page to be completed.)");
        }
        const last = await answers(now.requestState);
        expect(JSON.parse(text(last))).toEqual({ action: "accept", completed: false });
      },
    );

    test("waits 20 seconds unless told otherwise, and looks again when the notice is lost", async () => {
      const h = pays(effects);
      const first = asked(await h.call("t", { caller: alice }));
      const { requestState } = first;
      let isOver = false;
      const reply = h
        .call("t", { caller: alice, requestState, inputResponses: { elicitUrl: accepted } })
        .finally(() => {
          isOver = true;
        });
      await settled();
      for (let seconds = 0; seconds < 19; seconds += 1) await h.advance(1_000);
      expect(isOver).toBe(false);
      const { shared } = h.runtime;
      const key = { kind: "elicitation", id: first.id };
      const record = await shared.get(key);
      const value = { ...(record?.value as JsonObject), page: { data: 7 } };
      await shared.put(key, value, record?.revision, h.clock.now() + 60_000);
      await h.advance(1_000);
      expect(JSON.parse(text(await reply))).toMatchObject({ completed: true, data: 7 });
    });

    test("counts once: the first completion's data stand, later ones are told so", async () => {
      const h = pays(effects);
      const first = asked(await h.call("t", { caller: alice }));
      const both = await Promise.all([
        completes(h, first.id, "one"),
        completes(h, first.id, "two"),
      ]);
      expect(both.filter((counts) => counts)).toHaveLength(1);
      expect(await completes(h, first.id, "three")).toBe(false);
      const { data } = JSON.parse(text(await accepts(h, first))) as { data: string };
      expect(data).toBe(both[0] ? "one" : "two");
    });

    test("is refused for another person, an id that nobody has, and one that is over", async () => {
      const h = pays(effects);
      const first = asked(await h.call("t", { caller: alice }));
      const errors = await Promise.all(
        [
          completes(h, first.id, "x", "mallory"),
          completes(h, "nobody_has_this_id_0123456789"),
          completes(h, "../../etc"),
          completes(h, ""),
        ].map((call) => call.catch((error: unknown) => error)),
      );
      expect(errors.map(refused)).toEqual([true, true, true, true]);
      expect(new Set(errors.map(String)).size).toBe(1);
      await h.advance(25 * 3_600_000);
      await expect(completes(h, first.id)).rejects.toSatisfy(refused);
    });

    test("a declined question needs no page", async () => {
      const h = pays(effects);
      const { requestState } = asked(await h.call("t", { caller: alice }));
      const inputResponses = { elicitUrl: decline };
      const reply = await h.call("t", { caller: alice, requestState, inputResponses });
      expect(JSON.parse(text(reply))).toEqual({ action: "decline" });
    });

    test("a request that is gone or cancelled while its accept waits ends the wait", async () => {
      const h = pays(effects);
      const { requestState } = asked(await h.call("t", { caller: alice }));
      const cancelling = new AbortController();
      const reply = h.call("t", {
        caller: alice,
        requestState,
        inputResponses: { elicitUrl: accepted },
        cancelled: cancelling.signal,
      });
      await settled();
      cancelling.abort();
      expect(code(await reply)).toBe("RUN_CANCELLED");
    });
  },
);

describe("a URL ask", () => {
  test("of a repeatable handler touches the store for its completion alone", async () => {
    const h = pays("repeatable");
    const first = asked(await h.call("t", { caller: alice }));
    await completes(h, first.id);
    await accepts(h, first);
    expect(h.traffic.calls).toEqual([]);
  });

  test("of a once handler gives what was recorded to whoever repeats the round", async () => {
    const h = pays("once");
    const first = asked(await h.call("t", { caller: alice }));
    await completes(h, first.id, "paid");
    const reply = await accepts(h, first);
    expect(await accepts(h, first)).toEqual(reply);
  });

  test("whose URL was made without the id can't be completed, and an accept is taken at once", async () => {
    const handler = async (_: unknown, ctx: Context): Promise<string> =>
      JSON.stringify(await ctx.elicitUrl("Read this", "https://terms.example/"));
    const h = startHarness({ tools: [tool({ name: "t", description, handler })] });
    const { requestState, elicitationIds } = question(await h.call("t"));
    expect(elicitationIds?.["elicitUrl"]).toMatch(/^[A-Za-z0-9_-]{22,64}$/);
    const reply = await h.call("t", { requestState, inputResponses: { elicitUrl: accepted } });
    expect(JSON.parse(text(reply))).toEqual({ action: "accept", completed: false });
  });

  test("has another id in another run, and under another key", async () => {
    const handler = async (_: unknown, ctx: Context): Promise<string> => {
      const url = ({ id }: { readonly id: string }): string => `https://pay.example/${id}`;
      await Promise.all([ctx.elicitUrl("One", url), ctx.elicitUrl("Two", url, { key: "two" })]);
      return "done";
    };
    const h = startHarness({ tools: [tool({ name: "t", description, handler })] });
    const ids = [question(await h.call("t")), question(await h.call("t"))].flatMap(
      ({ elicitationIds = {} }) => Object.values(elicitationIds),
    );
    expect(new Set(ids).size).toBe(4);
  });

  test.each([-1, Number.NaN, 45_001])("refuses to wait %s ms", async (waitMs) => {
    const h = pays("once", { waitMs });
    const reply = await h.call("t");
    expect(JSON.stringify(reply)).not.toContain("input_required");
    const logged = h.log.map(({ fields }) => String(fields["err"]));
    expect(logged.join()).toContain(`waitMs is ${waitMs}`);
  });

  test("refuses a completion that says nobody, or more than can be kept", async () => {
    const h = pays("once");
    const { id } = asked(await h.call("t", { caller: alice }));
    await expect(completes(h, id, "x", "")).rejects.toBeInstanceOf(TypeError);
    await expect(completes(h, id, "x".repeat(20_000))).rejects.toBeInstanceOf(RangeError);
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    await expect(completes(h, id, loop as JsonObject)).rejects.toBeInstanceOf(TypeError);
    expect(await completes(h, id)).toBe(true);
  });
});
