/**
 * What pages read: bounded, shared, masked; and what is refused.
 */
import { RepriseError } from "@reprise/errors";
import type { HistoryStore } from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import { describe, expect, test } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { endedEvents, recordOf, secret, waitingEvents } from "./support/runs.ts";

const start = 1_800_000_000_000;

describe("the overview", () => {
  test("tells what waits, what is wrong, how fast it goes and how full it is", async () => {
    const { history, signIn } = await openDashboard({
      health: async () => ({ ok: true, room: { usedBytes: 600, limitBytes: 1000 } }),
      keys: {
        list: async () => [
          { kid: "k1", status: "sealing", createdAtMs: start - 5000 },
          { kid: "k0", status: "opening", createdAtMs: start - 9000 },
        ],
        rotate: async () => 0,
        revoke: async () => ({ known: true }),
      },
    });
    await history.record(waitingEvents("r-1", start - 60_000));
    await history.record(endedEvents("r-2", start - 50_000, "completed"));
    await history.record(endedEvents("r-3", start - 40_000, "failed"));
    await history.record(endedEvents("r-4", start - 30_000, "parked"));
    const visitor = await signIn();
    const overview = (await visitor.get("overview")).json();
    expect(overview).toMatchObject({
      health: { ok: true },
      counts: {
        byStatus: { waiting: 1, completed: 1, failed: 1, parked: 1, attention: 1 },
        oldestWaitingSince: start - 60_000 + 50,
      },
      recent: { looked: 4, codes: [{ code: "STEP_FAILED", count: 1 }] },
      room: { usedBytes: 600, limitBytes: 1000 },
      keys: { sealing: 1, oldestSealingAt: start - 5000 },
    });
  });

  test("adds up what every process has counted, also what history has dropped", async () => {
    const { history, signIn } = await openDashboard();
    const each = { role: "worker", version: "1", host: "h", pid: 1, draining: false } as const;
    const alive = { ...each, startedAt: start - 600_000, seenAt: start, running: 0 };
    const [ended, failed, dropped] = [600_000, 30, 9];
    await history.beat({
      ...{ ...alive, instance: "a" },
      lately: { spanMs: 300_000, ended, failed, dropped },
    });
    await history.beat({
      ...{ ...alive, instance: "just-started" },
      lately: { spanMs: 10_000, ended: 20, failed: 0, dropped: 0 },
    });
    await history.beat({ ...alive, instance: "of-an-earlier-release" });
    // Of all that ended, history has one.
    await history.record(endedEvents("r-1", start - 50_000, "completed"));
    const overview = (await (await signIn()).get("overview")).json();
    expect(overview.lately).toEqual({
      ...{ spanMs: 300_000, endedPerMinute: 120_000 + 120, ended: 600_020 },
      ...{ failed: 30, dropped: 9 },
    });
  });

  test("tells no throughput while no process has counted: an unknown one is not 0", async () => {
    const { history, signIn } = await openDashboard();
    await history.record(endedEvents("r-1", start - 50_000, "completed"));
    expect((await (await signIn()).get("overview")).json()).not.toHaveProperty("lately");
  });

  test("stands when a part of it can't be read, and says that health is unknown", async () => {
    const away = async (): Promise<never> => {
      throw new RepriseError("STORE_UNAVAILABLE", "away");
    };
    const { signIn } = await openDashboard({ health: away });
    const visitor = await signIn();
    const reply = await visitor.get("overview");
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toMatchObject({ health: { ok: false } });
    expect(reply.json()).not.toHaveProperty("room");
  });

  test("is 503 with a code when history itself is away, and no cause goes out", async () => {
    const history = createMemoryHistory();
    const counts = async (): Promise<never> => {
      throw new RepriseError("STORE_UNAVAILABLE", "The store can't be reached.", {
        cause: new Error(secret),
      });
    };
    const { signIn } = await openDashboard({ history: { ...history, counts } });
    const visitor = await signIn();
    const reply = await visitor.get("overview");
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toEqual({
      error: { code: "STORE_UNAVAILABLE", message: "The store can't be reached." },
    });
  });
});

describe("the cost of a page", () => {
  test("is the same few commands with two hundred runs as with one, for overview, inbox and list", async () => {
    const { counted, calls } = counting(createMemoryHistory(() => start));
    const { signIn, clock } = await openDashboard({ history: counted });
    const visitor = await signIn();
    const costs = async (): Promise<readonly number[]> => {
      const each: number[] = [];
      for (const path of ["overview", "runs?status=waiting", "runs?limit=100&status=completed"]) {
        clock.advance(1000);
        calls.length = 0;
        const reply = await visitor.get(path);
        expect(reply.statusCode).toBe(200);
        each.push(calls.length);
      }
      return each;
    };
    await counted.record(waitingEvents("one", start - 1000));
    const few = await costs();
    const many = Array.from({ length: 100 }, (_, at) => at);
    await counted.record(many.flatMap((at) => waitingEvents(`w-${at}`, start - 100_000 + at)));
    await counted.record(
      many.flatMap((at) => endedEvents(`e-${at}`, start - 100_000 + at, "completed")),
    );
    expect(await costs()).toEqual(few);
    expect(few).toEqual([3, 1, 1]);
  });

  test("is shared: a hundred pages that ask at once are one look at the store", async () => {
    const { counted, calls } = counting(createMemoryHistory(() => start));
    const { signIn } = await openDashboard({ history: counted });
    const visitor = await signIn();
    await Promise.all(Array.from({ length: 100 }, () => visitor.get("runs?status=waiting")));
    expect(calls).toEqual(["list"]);
  });

  test("of an action makes what was read before it old", async () => {
    const { counted, calls } = counting(createMemoryHistory(() => start));
    const { signIn } = await openDashboard({ history: counted });
    const visitor = await signIn();
    await visitor.get("runs");
    await visitor.post("runs/r-1/cancel");
    await visitor.get("runs");
    expect(calls.filter((name) => name === "list")).toHaveLength(2);
  });
});

describe("a filter", () => {
  test("finds runs by status, tool, caller and time, and goes on where the page before ended", async () => {
    const { history, signIn } = await openDashboard();
    for (let at = 0; at < 5; at += 1) {
      await history.record(endedEvents(`a-${at}`, start - 10_000 + at * 100, "failed"));
    }
    await history.record(endedEvents("b-1", start - 5000, "failed", { principal: "bob" }));
    await history.record(
      endedEvents("c-1", start - 4000, "completed", { handler: { kind: "tool", name: "mail" } }),
    );
    const visitor = await signIn();
    const idsOf = async (query: string): Promise<readonly string[]> =>
      (await visitor.get(`runs?${query}`))
        .json<{ runs: { runId: string }[] }>()
        .runs.map(({ runId }) => runId);
    expect(await idsOf("principal=bob")).toEqual(["b-1"]);
    expect(await idsOf("handler=mail")).toEqual(["c-1"]);
    expect(await idsOf("status=failed&principal=ann")).toEqual(["a-4", "a-3", "a-2", "a-1", "a-0"]);
    expect(await idsOf(`from=${start - 4500}`)).toEqual(["c-1"]);
    const page = (await visitor.get("runs?limit=4")).json<{ next: string }>();
    expect(await idsOf(`limit=4&cursor=${encodeURIComponent(page.next)}`)).toEqual([
      "a-2",
      "a-1",
      "a-0",
    ]);
  });

  test.each([
    ["status=lost"],
    ["status=constructor"],
    ["limit=0"],
    ["limit=101"],
    ["limit=1e9"],
    ["from=yesterday"],
    ["from=20&to=10"],
    ["principal=a&principal=b"],
    ["tool=mail"],
    ["__proto__=x"],
    [`handler=${"%78".repeat(1001)}`],
    ["cursor=forged"],
    ["cursor=..%2F..%2Fetc"],
    [`cursor=${encodeURIComponent('{"a":1}')}`],
  ])("that can't be meant is refused with a word on what is wrong: %#", async (query) => {
    const { signIn } = await openDashboard();
    const visitor = await signIn();
    const reply = await visitor.get(`runs?${query}`);
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ error: { code: "OPS_REQUEST_INVALID" } });
  });
});

describe("a run's page", () => {
  test("shows what happened and no value, to an operator as to a viewer", async () => {
    const { records, history, signIn, viewer } = await openDashboard();
    records.set("r-1", recordOf("r-1"));
    await history.record(waitingEvents("r-1", start - 1000));
    for (const visitor of [await signIn(), await viewer()]) {
      for (const path of ["runs/r-1", "runs", "overview", "me", "audit", "instances"]) {
        const reply = await visitor.get(path);
        expect(reply.statusCode).toBe(200);
        expect(reply.body).not.toContain(secret);
      }
    }
    const view = (await (await viewer()).get("runs/r-1")).json();
    expect(view).toMatchObject({
      summary: { status: "waiting" },
      record: {
        status: "waiting",
        pending: [{ key: "confirm", method: "elicitation/create" }],
        open: [{ step: "send mail" }],
        response: { kind: "error", code: "STEP_UNCERTAIN" },
        entries: [
          { kind: "read_completed", name: "load order" },
          { kind: "step_completed", name: "charge" },
          { kind: "answer_taken", name: "confirm" },
          { kind: "step_failed", name: "send mail", outcome: "uncertain" },
        ],
      },
    });
    expect(view.events).toHaveLength(5);
  });

  test("of a run with ten thousand steps shows the first and the last ones", async () => {
    const { records, signIn } = await openDashboard();
    const record = recordOf("r-1");
    const [step] = record.entries;
    if (step === undefined) throw new Error("the record has entries");
    records.set("r-1", { ...record, entries: Array.from({ length: 10_000 }, () => step) });
    const { record: shown } = (await (await signIn()).get("runs/r-1")).json();
    expect(shown.entryCount).toBe(10_000);
    expect(shown.entries).toHaveLength(400);
    expect(shown.entries.at(-1).index).toBe(9999);
  });

  test("is 404 for one that there is not, and 400 for what can't be an id", async () => {
    const { signIn } = await openDashboard();
    const visitor = await signIn();
    expect((await visitor.get("runs/none")).statusCode).toBe(404);
    expect((await visitor.get("runs/..%2F..%2Fx")).statusCode).toBe(400);
    expect((await visitor.get(`runs/${"x".repeat(90)}`)).statusCode).toBe(404);
  });
});

describe("a search by idempotency key", () => {
  test("leads a viewer to the run, with the key in no address", async () => {
    const { viewer } = await openDashboard();
    const visitor = await viewer();
    expect((await visitor.post("find-key", { tool: "refund", key: "order-7" })).json()).toEqual({
      runId: "r-1",
    });
    expect((await visitor.post("find-key", { tool: "refund", key: "order-8" })).json()).toEqual({
      runId: null,
    });
    expect((await visitor.post("find-key", { tool: "refund" })).statusCode).toBe(400);
    expect((await visitor.post("find-key", { tool: ["refund"], key: "x" })).statusCode).toBe(400);
  });
});

test("what a deployment without Redis does not have is 404 with words for that", async () => {
  const { signIn } = await openDashboard();
  const visitor = await signIn();
  for (const path of ["queues", "keys"]) expect((await visitor.get(path)).statusCode).toBe(404);
  expect((await visitor.get("me")).json()).toMatchObject({
    has: { queues: false, keys: false, drain: false, board: false },
  });
});

function counting(history: HistoryStore): {
  readonly counted: HistoryStore;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const counted = new Proxy(history, {
    get(target, name: keyof HistoryStore) {
      const method = target[name] as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        if (name !== "record") calls.push(name);
        return method.apply(target, given);
      };
    },
  });
  return { counted, calls };
}
