/**
 * Lists of runs: what is in which, in which order, page by page.
 */
import assert from "node:assert/strict";
import {
  DAY_MS,
  ended,
  ends,
  event,
  type HistoryCase,
  idsOf,
  pagesOf,
  rowOf,
  started,
  waits,
} from "./fixtures.ts";

/** Runs and their lists. */
export const listCases: readonly HistoryCase[] = [
  {
    title: "a run is in the lists of its status, its handler and its caller, the newest first",
    run: async (harness) => {
      const [one, other] = [await harness.open(), await harness.open()];
      await one.record(waits(harness, "waits"));
      await harness.advance(1);
      await other.record(ends(harness, "ends", { handler: { kind: "prompt", name: "draft" } }));
      await harness.advance(1);
      await one.record([event(harness, "runs", started, { principal: "bob" })]);
      assert.deepEqual(await idsOf(other), ["runs", "ends", "waits"]);
      assert.deepEqual(await idsOf(one, { status: "waiting" }), ["waits"]);
      assert.deepEqual(await idsOf(one, { status: "completed" }), ["ends"]);
      assert.deepEqual(await idsOf(one, { handler: "refund" }), ["runs", "waits"]);
      assert.deepEqual(await idsOf(one, { handler: "refund", status: "waiting" }), ["waits"]);
      assert.deepEqual(await idsOf(one, { principal: "alice" }), ["ends", "waits"]);
      assert.deepEqual(await idsOf(one, { principal: "alice", status: "running" }), []);
      assert.deepEqual(await idsOf(one, { principal: "alice", handler: "draft" }), ["ends"]);
      assert.deepEqual(await idsOf(one, { handler: "nothing" }), []);
    },
  },
  {
    title: "a row says what its events said, and nothing of them is lost in another process",
    run: async (harness) => {
      const [one, other] = [await harness.open(), await harness.open()];
      const at = harness.now();
      await one.record(waits(harness, "run1"));
      assert.deepEqual(await rowOf(other, "run1"), {
        runId: "run1",
        handler: { kind: "tool", name: "refund" },
        status: "waiting",
        principal: "alice",
        client: "desk 1.0",
        protocolVersion: "2026-07-28",
        round: 0,
        version: "1",
        effects: "once",
        startedAt: at,
        updatedAt: at,
        waiting: {
          asks: [{ key: "confirm", kind: "confirm" }],
          since: at,
          until: at + DAY_MS,
        },
      });
      const [row] = (await other.list({ limit: 1 })).runs;
      assert.deepEqual(row, await rowOf(one, "run1"));
    },
  },
  {
    title: "a run moves to the list of its new status, and is in no other",
    run: async (harness) => {
      const history = await harness.open();
      await history.record(waits(harness, "run1"));
      await harness.advance(1_000);
      await history.record([event(harness, "run1", started, { epoch: 2, round: 1 })]);
      assert.deepEqual(await idsOf(history, { status: "waiting" }), []);
      assert.deepEqual(await idsOf(history, { status: "running" }), ["run1"]);
      assert.equal((await rowOf(history, "run1")).waiting, undefined);
      await history.record([
        event(harness, "run1", ended("failed", "failed", "INTERNAL"), { epoch: 2, round: 1 }),
      ]);
      for (const by of [{}, { handler: "refund" }, { principal: "alice" }]) {
        assert.deepEqual(await idsOf(history, { ...by, status: "running" }), []);
        assert.deepEqual(await idsOf(history, { ...by, status: "failed" }), ["run1"]);
        assert.deepEqual(await idsOf(history, by), ["run1"]);
      }
      const row = await rowOf(history, "run1");
      assert.deepEqual([row.code, row.round], ["INTERNAL", 1]);
    },
  },
  {
    title: "pages leave nothing out and show nothing twice, also of runs of one millisecond",
    run: async (harness) => {
      const history = await harness.open();
      const ids = Array.from({ length: 57 }, (_, index) => `run${String(index).padStart(3, "0")}`);
      for (const [index, runId] of ids.entries()) {
        if (index % 20 === 0) await harness.advance(1);
        await history.record(ends(harness, runId));
      }
      for (const limit of [1, 7, 20, 57, 100]) {
        const pages = await pagesOf(history, { limit, status: "completed" });
        assert.deepEqual([...pages.flat()].sort(), ids);
        assert.ok(pages.length <= Math.ceil(ids.length / limit) + 1, `${pages.length} pages`);
      }
      const times = new Map(ids.map((runId, index) => [runId, Math.floor(index / 20)]));
      const order = (await idsOf(history)).map((runId) => times.get(runId) ?? -1);
      assert.deepEqual(
        order,
        [...order].sort((one, other) => other - one),
      );
    },
  },
  {
    title: "pages show what was there, whatever comes between them",
    run: async (harness) => {
      const history = await harness.open();
      for (const runId of ["a", "b", "c", "d"]) {
        await harness.advance(1);
        await history.record(ends(harness, runId));
      }
      const first = await history.list({ limit: 2 });
      await harness.advance(1);
      await history.record(ends(harness, "new"));
      const second = await history.list({ limit: 2, cursor: first.next });
      const shown = [...first.runs, ...second.runs].map(({ runId }) => runId);
      assert.deepEqual(shown, ["d", "c", "b", "a"]);
    },
  },
  {
    title: "a time from which and a time before which bound a list",
    run: async (harness) => {
      const history = await harness.open();
      const at = harness.now();
      for (const runId of ["a", "b", "c", "d"]) {
        await history.record(ends(harness, runId));
        await harness.advance(10);
      }
      assert.deepEqual(await idsOf(history, { from: at + 10, to: at + 30 }), ["c", "b"]);
      assert.deepEqual(await idsOf(history, { from: at + 11 }), ["d", "c"]);
      assert.deepEqual(await idsOf(history, { to: at + 10 }), ["a"]);
      assert.deepEqual((await pagesOf(history, { limit: 1, to: at + 30 })).flat(), ["c", "b", "a"]);
    },
  },
  {
    title:
      "open questions come in the order in which they were asked, the oldest first, page by page",
    run: async (harness) => {
      const history = await harness.open();
      const ids = Array.from({ length: 13 }, (_, index) => `run${index}`);
      for (const runId of ids) {
        // Some are asked in the same millisecond.
        if (Number(runId.slice(3)) % 3 !== 0) await harness.advance(1);
        const name = runId === "run1" || runId === "run10" ? "rare" : "usual";
        await history.record(waits(harness, runId, { handler: { kind: "tool", name } }));
      }
      await harness.advance(1);
      // The newest change, and no younger question.
      await history.record([event(harness, "run2", { type: "replayed", status: "waiting" })]);
      await history.record([...ends(harness, "run4"), ...ends(harness, "other")]);
      const query = { status: "waiting", order: "longest_open" } as const;
      for (const limit of [1, 2, 5, 100]) {
        const found = (await pagesOf(history, { ...query, limit })).flat();
        assert.equal(new Set(found).size, found.length);
        assert.deepEqual([...found].sort(), ids.filter((runId) => runId !== "run4").sort());
        const { runs } = await history.list({ ...query, limit: 100 });
        const since = runs.map(({ waiting }) => waiting?.since ?? 0);
        assert.deepEqual(
          since,
          [...since].sort((one, other) => one - other),
        );
      }
      const rare = await pagesOf(history, { ...query, handler: "rare", limit: 1 });
      assert.deepEqual(rare.flat(), ["run1", "run10"]);
    },
  },
  {
    title: "two filters at once find all that fits, on pages that may be shorter",
    run: async (harness) => {
      const history = await harness.open();
      const expected: string[] = [];
      for (let index = 0; index < 40; index += 1) {
        const name = index % 8 === 0 ? "rare" : "usual";
        const runId = `run${index}`;
        if (name === "rare") expected.unshift(runId);
        await harness.advance(1);
        await history.record(ends(harness, runId, { handler: { kind: "tool", name } }));
      }
      const query = { principal: "alice", handler: "rare", limit: 2 };
      assert.deepEqual((await pagesOf(history, query)).flat(), expected);
    },
  },
  {
    title: "counts say how many runs stand where, and since when the oldest question is open",
    run: async (harness) => {
      const history = await harness.open();
      assert.deepEqual((await history.counts()).byStatus, {});
      assert.equal((await history.counts()).oldestWaitingSince, undefined);
      const since = harness.now();
      await history.record([...waits(harness, "a"), ...ends(harness, "x")]);
      await harness.advance(5_000);
      await history.record([...waits(harness, "b"), ...ends(harness, "y")]);
      // A replay makes the row newer and the question no younger.
      await history.record([event(harness, "a", { type: "replayed", status: "waiting" })]);
      await history.record([event(harness, "z", ended("interrupted", "interrupted"))]);
      assert.deepEqual(await history.counts(), {
        byStatus: { waiting: 2, completed: 2, interrupted: 1, attention: 1 },
        oldestWaitingSince: since,
      });
      await history.record(ends(harness, "a", { epoch: 2, round: 1 }));
      assert.deepEqual((await history.counts()).oldestWaitingSince, since + 5_000);
      assert.equal((await history.counts()).byStatus.waiting, 1);
    },
  },
];
