/**
 * What the author's code may do with a served definition: switch tools, tell of changes, complete URL asks.
 */
import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import {
  type Change,
  createProcessRecords,
  createRuntime,
  defineServer,
  prompt,
  type Runtime,
  type SharedRecords,
  tool,
} from "@reprise/runtime";
import { createManualClock } from "@reprise/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { deferred, settled, startHarness, text } from "./support/harness.ts";

const named = (name: string) => tool({ name, description: "d", handler: () => name });
const sealer = createStateSealer({ keys: ephemeralKeys() });

/** Several instances of one definition on shared records. */
function instances(shared?: SharedRecords) {
  const clock = createManualClock();
  const records = shared ?? createProcessRecords(clock.now);
  const hello = prompt({ name: "hello", description: "d", handler: () => "hello" });
  const server = defineServer({
    ...{ name: "s", tools: [named("one"), named("two")], prompts: [hello] },
  });
  const start = (over: { readonly shared?: SharedRecords } = {}): Runtime => {
    const runtime = createRuntime({
      server,
      store: "none",
      shared: over.shared ?? records,
      sealer,
      clock: { now: clock.now, monotonic: clock.now, after: clock.setTimer },
    });
    onTestFinished(() => runtime.close());
    return runtime;
  };
  return { clock, records, server, start };
}

const listed = ({ catalog }: Runtime): readonly string[] =>
  catalog.tools.map(({ handler }) => handler.name);

/** Records whose notices are all lost. */
const deaf = (records: SharedRecords): SharedRecords => ({
  get: (key) => records.get(key),
  put: (...given) => records.put(...given),
  remove: (...given) => records.remove(...given),
  append: (...given) => records.append(...given),
  read: (...given) => records.read(...given),
  publish: (...given) => records.publish(...given),
  listen: async () => () => undefined,
});

describe("a tool that is switched off", () => {
  test("is neither listed nor found, on every instance and on one that starts later", async () => {
    const { server, start } = instances();
    const [one, other] = [start(), start()];
    await server.tools.disable("one");
    await settled();
    for (const runtime of [one, other]) {
      expect(listed(runtime)).toEqual(["two"]);
      expect(runtime.catalog.findTool("one")).toBeUndefined();
    }
    const later = start();
    await later.ready;
    expect(listed(later)).toEqual(["two"]);
    await later.tools.enable("one");
    await settled();
    for (const runtime of [one, other, later]) expect(listed(runtime)).toEqual(["one", "two"]);
  });

  test("is known within a second to an instance that missed the notice", async () => {
    const { clock, records, start } = instances();
    const one = start();
    const other = start({ shared: deaf(records) });
    await one.tools.disable("one");
    await settled();
    expect(listed(other)).toEqual(["one", "two"]);
    clock.advance(1_000);
    await settled();
    expect(listed(other)).toEqual(["two"]);
  });

  test("changes the list once, and tells once on each instance", async () => {
    const { clock, start } = instances();
    const [one, other] = [start(), start()];
    await other.ready;
    const told: Change[] = [];
    one.onChange((change) => told.push(change));
    const stop = other.onChange((change) => told.push(change));
    const before = one.catalog.tools;
    expect(one.catalog.tools).toBe(before);
    await one.tools.disable("one");
    await one.tools.disable("one");
    await settled();
    clock.advance(1_000);
    await settled();
    expect(told).toEqual([{ kind: "toolsChanged" }, { kind: "toolsChanged" }]);
    expect(one.catalog.tools).not.toBe(before);
    stop();
    await one.tools.enable("one");
    await settled();
    expect(told).toHaveLength(3);
  });

  test("loses no other switch that is thrown at the same time", async () => {
    const { start } = instances();
    const [one, other] = [start(), start()];
    await Promise.all([one.tools.disable("one"), other.tools.disable("two")]);
    await settled();
    expect([listed(one), listed(other)]).toEqual([[], []]);
    expect(one.catalog.hasTools).toBe(true);
  });

  test("lets a run that has begun end", async () => {
    const release = deferred();
    const slow = tool({
      name: "slow",
      description: "d",
      async handler(_args, ctx) {
        await ctx.step("s", () => release.promise);
        return "done";
      },
    });
    const h = startHarness({ tools: [slow] });
    const reply = h.call("slow");
    await settled();
    await h.runtime.tools.disable("slow");
    release.resolve();
    expect(text(await reply)).toBe("done");
  });

  test("must be one of the definition's", async () => {
    const { server, start } = instances();
    start();
    await expect(server.tools.disable("none")).rejects.toBeInstanceOf(RangeError);
    await expect(server.tools.enable("__proto__")).rejects.toBeInstanceOf(RangeError);
  });

  test("stays off while the store is away", async () => {
    const { clock, records, start } = instances();
    let isAway = false;
    const flaky: SharedRecords = {
      ...deaf(records),
      get: (key) => (isAway ? Promise.reject(new Error("away")) : records.get(key)),
    };
    const one = start({ shared: flaky });
    await one.tools.disable("one");
    isAway = true;
    clock.advance(1_000);
    await settled();
    expect(listed(one)).toEqual(["two"]);
  });
});

describe("looks that cross", () => {
  /** Records whose next look's reply is held back after it was read. */
  function slowLook(records: SharedRecords) {
    const held = deferred();
    const read = deferred();
    let isNext = true;
    const shared: SharedRecords = {
      ...deaf(records),
      async get(key) {
        const found = await records.get(key);
        if (!isNext || !key.id.startsWith("tools")) return found;
        isNext = false;
        read.resolve();
        await held.promise;
        return found;
      },
    };
    return { shared, held, read };
  }

  test("take nothing back that this instance switched meanwhile", async () => {
    const { records, start } = instances();
    const { shared, held, read } = slowLook(records);
    const one = start({ shared });
    await read.promise;
    await one.tools.disable("one");
    expect(listed(one)).toEqual(["two"]);
    held.resolve();
    await settled();
    expect(listed(one)).toEqual(["two"]);
  });

  test("leave in force what the one found that began last", async () => {
    const { records, start } = instances();
    const other = start();
    await other.ready;
    const { shared, held, read } = slowLook(records);
    const heard: ((notice: string) => void)[] = [];
    const listen: SharedRecords["listen"] = async (_channel, listener) => {
      heard.push(listener);
      return () => undefined;
    };
    const one = start({ shared: { ...shared, listen } });
    await read.promise;
    await other.tools.disable("one");
    for (const listener of heard) listener('{"kind":"toolsChanged"}');
    await settled();
    expect(listed(one)).toEqual(["two"]);
    held.resolve();
    await settled();
    expect(listed(one)).toEqual(["two"]);
  });
});

describe("a prompt that is switched off", () => {
  test("is neither listed nor found on any instance, while the whole definition keeps it", async () => {
    const { server, start } = instances();
    const [one, other] = [start(), start()];
    const told: Change[] = [];
    other.onChange((change) => told.push(change));
    await server.prompts.disable("hello");
    await settled();
    for (const { catalog, wholeCatalog } of [one, other]) {
      expect([catalog.prompts, catalog.findPrompt("hello")]).toEqual([[], undefined]);
      expect(catalog.hasPrompts).toBe(true);
      expect(wholeCatalog.findPrompt("hello")).toBeDefined();
      expect(catalog.tools).toHaveLength(2);
    }
    await one.prompts.enable("hello");
    await settled();
    expect(other.catalog.prompts.map(({ handler }) => handler.name)).toEqual(["hello"]);
    expect(told).toEqual([{ kind: "promptsChanged" }, { kind: "promptsChanged" }]);
  });

  test("must be one of the definition's prompts: a tool's name is none", async () => {
    const { server, start } = instances();
    start();
    await expect(server.prompts.disable("one")).rejects.toBeInstanceOf(RangeError);
  });
});

describe("a resource that was updated", () => {
  test("is told to the listeners of every instance", async () => {
    const { server, start } = instances();
    const told: Change[] = [];
    for (const runtime of [start(), start()]) runtime.onChange((change) => told.push(change));
    await settled();
    await start().resourceUpdated("file:///a");
    const change = { kind: "resourceUpdated", uri: "file:///a" };
    expect(told).toEqual([change, change]);
    await expect(server.resourceUpdated("x".repeat(10_000))).rejects.toBeInstanceOf(RangeError);
  });

  test("reaches the other listeners when one of them throws, and what is no notice is passed over", async () => {
    const { records, start } = instances();
    const runtime = start();
    const told: Change[] = [];
    runtime.onChange(() => {
      throw new Error("a listener's bug");
    });
    runtime.onChange((change) => told.push(change));
    await settled();
    for (const notice of ["no JSON", "7", '{"kind":"later"}', '{"kind":"resourceUpdated"}']) {
      await records.publish("changes", notice);
    }
    await runtime.resourceUpdated("file:///a");
    expect(told).toEqual([{ kind: "resourceUpdated", uri: "file:///a" }]);
  });
});

describe("a runtime that is closed at once", () => {
  test("complains neither of its first sweep nor of its first look at what is switched off", async () => {
    const h = startHarness({ tools: [named("one")] }, {}, true);
    const release = deferred();
    const { store } = h;
    const closed = async (): Promise<never> => {
      await release.promise;
      throw new Error("the store is closed");
    };
    const slow = h.beside(
      {},
      {
        sweep: true,
        store: {
          ...store,
          removeExpired: closed,
        },
        shared: { ...deaf(store.shared), get: closed },
      },
    );
    await settled();
    const closing = slow.runtime.close();
    release.resolve();
    await closing;
    await slow.runtime.ready;
    await settled();
    expect(slow.log).toEqual([]);
  });
});

describe("a definition", () => {
  test("that nobody serves here has nobody to speak to", async () => {
    const server = defineServer({ name: "unserved", tools: [named("one")] });
    await expect(server.tools.disable("one")).rejects.toThrow(/not served in this process/);
    await expect(server.elicitations.complete("x", { principal: "p" })).rejects.toBeInstanceOf(
      TypeError,
    );
  });

  test("keeps its list of tools, and is not spoken to through a runtime that was closed", async () => {
    const { server, start } = instances();
    expect(server.tools.map(({ name }) => name)).toEqual(["one", "two"]);
    const runtime = start();
    await runtime.close();
    await expect(server.resourceUpdated("file:///a")).rejects.toThrow(/not served/);
  });
});
