/** Questions whose events are no longer kept when their client comes back, and events that wait for a slow store. */
import { defineServer, type Effects, tool } from "@reprise/runtime";
import type { FastifyBaseLogger } from "fastify";
import { describe, expect, test } from "vitest";
import { cluster } from "./support/instances.ts";
import { type EventReader, initialize, type Message, streamOf } from "./support/legacyClient.ts";
import { storeKinds } from "./support/stores.ts";

const yes = { action: "accept", content: { confirm: true } };

/** Asks two things; after the answer to the first it has more to tell than is kept. */
function chattyServer(effects: Effects) {
  return defineServer({
    name: "chatter",
    version: "1.0.0",
    tools: [
      tool({
        name: "chatty",
        description: "Asks two things, and tells every step in between",
        effects,
        async handler(_args, ctx) {
          const telling = async (): Promise<boolean> => {
            const first = await ctx.confirm("First?", { key: "first" });
            for (let step = 1; step <= 400; step++) ctx.progress(step);
            return first;
          };
          const both = await Promise.all([telling(), ctx.confirm("Other?", { key: "other" })]);
          return both.join(" ");
        },
      }),
    ],
  });
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: () => resolve() };
}

/** A log that keeps what its warnings are about. */
function warningsInto(warnings: string[]): FastifyBaseLogger {
  const nothing = (): void => undefined;
  const logger: FastifyBaseLogger = {
    ...{ level: "warn", silent: nothing },
    ...{ trace: nothing, debug: nothing, info: nothing, error: nothing, fatal: nothing },
    warn: ({ err }: { readonly err: Error }) => warnings.push(err.message),
    child: () => logger,
  };
  return logger;
}

const call = { name: "chatty", _meta: { progressToken: 1 } };

/** Reads until the last of the 400 steps is told. */
async function untilTold(stream: EventReader): Promise<readonly Message[]> {
  const messages: Message[] = [];
  while (messages.at(-1)?.params?.["progress"] !== 400) messages.push(await stream.message());
  return messages;
}

describe.each(
  storeKinds().flatMap(([name, kind]) =>
    (["once", "repeatable"] as const).map((effects) => ({ name, kind, effects })),
  ),
)("in $name, an open question of a $effects tool", ({ kind, effects }) => {
  test.each([0, 1])(
    "whose event is no longer kept is sent again, once and under its id, at front %i",
    async (place) => {
      const all = await cluster(chattyServer(effects), { kind });
      const [a, b] = all.instances;
      const session = await initialize(a.url);
      const stream = streamOf(await session.request(a.url, "tools/call", call));
      const opening = await stream.next();
      const [first, other] = [await stream.message(), await stream.message()];
      await session.answer(b.url, first.id, yes);
      await untilTold(stream);
      await stream.leave();

      const again = streamOf(await session.listen(all.instances[place]?.url ?? "", opening?.id));
      const told = await untilTold(again);
      expect(told.every(({ method }) => method === "notifications/progress")).toBe(true);
      const next = again.message();
      await all.pass(3_000);
      expect(await next).toEqual(other);

      await session.answer(a.url, other.id, yes);
      await all.pass(3_000);
      expect(await again.rest()).toMatchObject([{ result: { content: [{ text: "true true" }] } }]);
    },
  );

  test.each([0, 1])(
    "that its client has is not sent again, although other events were missed, at front %i",
    async (place) => {
      const all = await cluster(chattyServer(effects), { kind });
      const [a, b] = all.instances;
      const session = await initialize(a.url);
      const stream = streamOf(await session.request(a.url, "tools/call", call));
      await stream.next();
      const first = await stream.message();
      const other = await stream.next();
      await session.answer(b.url, first.id, yes);
      await untilTold(stream);
      await stream.leave();

      const again = streamOf(await session.listen(all.instances[place]?.url ?? "", other?.id));
      await untilTold(again);
      await all.pass(3_000);
      await session.answer(a.url, other?.message?.id, yes);
      await all.pass(3_000);
      expect(await again.rest()).toMatchObject([{ result: { content: [{ text: "true true" }] } }]);
    },
  );
});

test("a call whose store is slow loses progress above a bound, never its question or its result, and says so once", async () => {
  const talkative = tool({
    name: "talkative",
    description: "Tells three megabytes before it asks",
    async handler(_args, ctx) {
      for (let step = 1; step <= 3_000; step++) ctx.progress(step, 3_000, "x".repeat(1_000));
      return String(await ctx.confirm("Go on?"));
    },
  });
  const warnings: string[] = [];
  const all = await cluster(defineServer({ name: "talk", version: "1.0.0", tools: [talkative] }), {
    logger: warningsInto(warnings),
  });
  const [a] = all.instances;
  const { append, put } = a.shared;
  const fast = deferred();
  const asked = deferred();
  a.shared.append = async (...args) => {
    await fast.promise;
    return append(...args);
  };
  a.shared.put = async (...args) => {
    const revision = await put(...args);
    if (JSON.stringify(args[1]).includes('"key":"confirm"')) asked.resolve();
    return revision;
  };
  const session = await initialize(a.url);
  const params = { name: "talkative", _meta: { progressToken: 1 } };
  const stream = streamOf(await session.request(a.url, "tools/call", params));
  await asked.promise;
  await new Promise((resolve) => setImmediate(resolve));
  fast.resolve();
  const messages: Message[] = [];
  while (messages.at(-1)?.method !== "elicitation/create") messages.push(await stream.message());
  expect(messages.length).toBeGreaterThan(250);
  expect(messages.length).toBeLessThan(600);
  await session.answer(a.url, messages.at(-1)?.id, yes);
  expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "true" }] } }]);
  expect(warnings).toEqual([expect.stringMatching(/progress and log messages are dropped/)]);
});
