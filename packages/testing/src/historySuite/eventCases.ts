/**
 * What events make of a row, and which of them are kept.
 */
import assert from "node:assert/strict";
import { MAX_EVENTS_PER_RUN } from "@reprise/runtime";
import {
  completed,
  DAY_MS,
  ended,
  ends,
  event,
  type HistoryCase,
  idsOf,
  rowOf,
  started,
  stepEnded,
  waits,
} from "./fixtures.ts";

/** Events of runs. */
export const eventCases: readonly HistoryCase[] = [
  {
    title: "a timeline has the events of its run as they were told, the oldest first",
    run: async (harness) => {
      const [one, other] = [await harness.open(), await harness.open()];
      const first = waits(harness, "run1");
      const second = ends(harness, "run1", { epoch: 2, round: 1, instance: "worker-2" });
      await one.record([...first, ...ends(harness, "run2")]);
      await other.record(second);
      const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
      assert.deepEqual(await one.timeline("run1"), plain([...first, ...second]));
      assert.deepEqual(await one.timeline("run3"), []);
      assert.equal(await one.summary("run3"), undefined);
    },
  },
  {
    title: "of a long run the first and the newest events are kept, and no more than may be",
    run: async (harness) => {
      const history = await harness.open();
      const steps = Array.from({ length: MAX_EVENTS_PER_RUN + 300 }, (_, index) =>
        event(harness, "run1", stepEnded("completed", `step${index}`)),
      );
      // Uneven parts, so that what is dropped lies within one, between two and beyond.
      for (let at = 0; at < steps.length; at += 170)
        await history.record(steps.slice(at, at + 170));
      const kept = (await history.timeline("run1")).map((told) =>
        told.type === "step_ended" ? told.step : told.type,
      );
      assert.equal(kept.length, MAX_EVENTS_PER_RUN);
      assert.deepEqual([kept[0], kept[49], kept[50]], ["step0", "step49", "step350"]);
      assert.equal(kept.at(-1), `step${MAX_EVENTS_PER_RUN + 299}`);
    },
  },
  {
    title: "events that several processes tell of one run at one time are all kept",
    run: async (harness) => {
      const places = await Promise.all([1, 2, 3, 4].map(() => harness.open()));
      await Promise.all(
        places.flatMap((history, place) =>
          Array.from({ length: 8 }, (_, index) =>
            history.record([
              event(harness, "run1", stepEnded("completed", `${place}.${index}`)),
              event(harness, `own${place}`, completed),
            ]),
          ),
        ),
      );
      const [history] = places;
      assert.equal((await history?.timeline("run1"))?.length, 32);
      assert.equal((await history?.counts())?.byStatus.completed, 4);
      assert.equal((await history?.counts())?.byStatus.running, 1);
    },
  },
  {
    title: "what an older attempt says late changes the timeline and nothing else",
    run: async (harness) => {
      const history = await harness.open();
      const lost = harness.now();
      await history.record([event(harness, "run1", started)]);
      await harness.advance(20_000);
      await history.record([
        event(harness, "run1", { type: "attempt_started", cause: "takeover" }, { epoch: 2 }),
        event(harness, "run1", completed, { epoch: 2 }),
      ]);
      const row = await rowOf(history, "run1");
      await history.record([
        event(harness, "run1", ended("interrupted", "interrupted"), { at: lost + 5 }),
        event(harness, "run1", ended("lost", undefined), { epoch: 2, at: lost + 6 }),
      ]);
      assert.deepEqual(await rowOf(history, "run1"), row);
      assert.equal((await history.timeline("run1")).length, 5);
    },
  },
  {
    title: "a replay of an open question shows the question again after somebody took it for over",
    run: async (harness) => {
      const history = await harness.open();
      await history.record(waits(harness, "run1"));
      const { waiting } = await rowOf(history, "run1");
      await history.record([
        event(harness, "run1", { type: "acted", action: "expired", status: "failed" }),
      ]);
      assert.deepEqual(await idsOf(history, { status: "waiting" }), []);
      assert.equal((await rowOf(history, "run1")).waiting, undefined);
      await history.record([event(harness, "run1", { type: "replayed", status: "waiting" })]);
      assert.deepEqual((await rowOf(history, "run1")).waiting, waiting);
    },
  },
  {
    title: "what somebody should look at is in a list of its own until it is mended",
    run: async (harness) => {
      const history = await harness.open();
      const told = (runId: string, ...all: readonly Parameters<typeof event>[2][]) =>
        history.record(all.map((one) => event(harness, runId, one)));
      await told("interrupted", started, ended("interrupted", "interrupted"));
      await told("mismatched", started, ended("mismatched", "mismatched"));
      await told("parked", started, ended("parked", "parked"));
      await told("uncertain", stepEnded("uncertain"), ended("failed", "failed"));
      await told("failed_undo", stepEnded("failed", "refund", true), ended("parked", "parked"));
      await told("fine", stepEnded("failed"), ended("failed", "failed"));
      await told(
        "retried",
        stepEnded("uncertain"),
        stepEnded("completed"),
        ended("completed", "completed"),
      );
      await told(
        "undone_at_last",
        stepEnded("failed", "refund", true),
        stepEnded("completed", "refund", true),
        ended("parked", "parked"),
      );
      const page = await history.list({ status: "attention", limit: 100 });
      const found = page.runs.map(({ runId, attention }) => [runId, attention]);
      const byId = (one: (typeof found)[number], other: (typeof found)[number]): number =>
        String(one[0]) < String(other[0]) ? -1 : 1;
      assert.deepEqual(found.sort(byId), [
        ["failed_undo", "failed_undo"],
        ["interrupted", "interrupted"],
        ["mismatched", "mismatched"],
        ["parked", "parked"],
        ["uncertain", "uncertain"],
        ["undone_at_last", "parked"],
      ]);
      await history.record([
        event(harness, "parked", { type: "acted", action: "released", status: "running" }),
      ]);
      assert.equal((await idsOf(history, { status: "attention" })).includes("parked"), false);
    },
  },
  {
    title: "a run is forgotten seven days after its newest event, as a whole",
    run: async (harness) => {
      const history = await harness.open();
      await history.record([...waits(harness, "old"), ...waits(harness, "renewed")]);
      await harness.advance(6 * DAY_MS);
      await history.record(ends(harness, "renewed", { epoch: 2, round: 1 }));
      await harness.advance(DAY_MS + 1);
      assert.equal(await history.summary("old"), undefined);
      assert.deepEqual(await history.timeline("old"), []);
      assert.deepEqual(await idsOf(history), ["renewed"]);
      assert.equal((await history.timeline("renewed")).length, 5);
      assert.deepEqual((await history.counts()).byStatus, { completed: 1 });
      assert.equal((await history.counts()).oldestWaitingSince, undefined);
      // It begins anew, and nothing of before comes back with it.
      await history.record([event(harness, "old", started, { epoch: 3 })]);
      assert.equal((await history.timeline("old")).length, 1);
      assert.equal((await rowOf(history, "old")).startedAt, harness.now());
    },
  },
];
