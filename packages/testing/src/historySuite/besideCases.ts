/**
 * Instances, the audit log, and what the port refuses.
 */
import assert from "node:assert/strict";
import type { AuditItem, InstanceInfo } from "@reprise/runtime";
import {
  DAY_MS,
  ends,
  event,
  type HistoryCase,
  type HistoryHarness,
  idsOf,
  started,
} from "./fixtures.ts";

function instance(harness: HistoryHarness, name: string): InstanceInfo {
  return {
    instance: name,
    role: "worker",
    version: "1.2.3",
    host: "node-1",
    pid: 17,
    startedAt: 1,
    seenAt: harness.now(),
    running: 3,
    draining: false,
  };
}

function action(harness: HistoryHarness, target: string): AuditItem {
  return { at: harness.now(), actor: "ann", action: "cancel", target, outcome: "done" };
}

/** What history has besides runs. */
export const besideCases: readonly HistoryCase[] = [
  {
    title: "an instance is known from its beat until a minute after the last one",
    run: async (harness) => {
      const [one, other] = [await harness.open(), await harness.open()];
      assert.deepEqual(await one.instances(), []);
      await one.beat(instance(harness, "worker-2"));
      await other.beat(instance(harness, "worker-1"));
      await harness.advance(40_000);
      const later = { ...instance(harness, "worker-1"), draining: true, running: 0 };
      await other.beat(later);
      assert.deepEqual(
        (await one.instances()).map((known) => [known.instance, known.draining]),
        [
          ["worker-1", true],
          ["worker-2", false],
        ],
      );
      await harness.advance(20_001);
      assert.deepEqual(await one.instances(), [later]);
      await harness.advance(40_000);
      assert.deepEqual(await one.instances(), []);
    },
  },
  {
    title: "actions of one moment are all in the audit log, the newest first, page by page",
    run: async (harness) => {
      const history = await harness.open();
      const targets = Array.from({ length: 25 }, (_, index) => `run${index}`);
      for (const target of targets) await history.audit(action(harness, target));
      const shown: string[] = [];
      let before: number | undefined;
      for (;;) {
        const page = await history.audits(10, before);
        shown.push(...page.map(({ target }) => target));
        before = page.at(-1)?.at;
        if (page.length < 10) break;
      }
      assert.deepEqual(shown, [...targets].reverse());
      const [newest] = await history.audits(1);
      assert.deepEqual({ ...newest, at: 0 }, { ...action(harness, "run24"), at: 0 });
    },
  },
  {
    title: "the audit log is kept for ninety days",
    run: async (harness) => {
      const history = await harness.open();
      await history.audit(action(harness, "first"));
      await harness.advance(80 * DAY_MS);
      await history.audit(action(harness, "second"));
      assert.equal((await history.audits(10)).length, 2);
      await harness.advance(10 * DAY_MS + 1);
      assert.deepEqual(
        (await history.audits(10)).map(({ target }) => target),
        ["second"],
      );
    },
  },
  {
    title: "names that look like keys, are long or are in any script are names",
    run: async (harness) => {
      const history = await harness.open();
      const names = ["a:b}{c", "all", "x/../y", "é\u{1f9ff}\n", "", "long".repeat(2_000)];
      for (const [index, name] of names.entries()) {
        const over = { principal: name, handler: { kind: "resource", name } };
        await history.record(ends(harness, `run${index}`, over));
      }
      for (const [index, name] of names.entries()) {
        assert.deepEqual(await idsOf(history, { principal: name }), [`run${index}`]);
        assert.deepEqual(await idsOf(history, { handler: name }), [`run${index}`]);
      }
      assert.equal((await idsOf(history)).length, names.length);
    },
  },
  {
    title: "events of runs without an id, or with one that can't be, are passed over",
    run: async (harness) => {
      const history = await harness.open();
      const none = [undefined, "", "a:b", "a/b", "x".repeat(401)];
      await history.record([
        ...none.map((runId) => event(harness, runId, started)),
        event(harness, "good", started),
      ]);
      await history.record([]);
      assert.deepEqual(await idsOf(history), ["good"]);
      for (const runId of ["", "a:b", "a/b", "x".repeat(401)]) {
        assert.equal(await history.summary(runId), undefined);
        assert.deepEqual(await history.timeline(runId), []);
      }
    },
  },
  {
    title: "what can't be meant is refused, and nothing of it is kept",
    run: async (harness) => {
      const history = await harness.open();
      for (const limit of [0, -1, 101, 1.5, Number.NaN])
        await assert.rejects(history.list({ limit }), RangeError);
      for (const cursor of ["", "x", "1-run", "999999999999999-../.."])
        await assert.rejects(history.list({ limit: 1, cursor }), RangeError);
      for (const filter of [{}, { status: "completed" }, { status: "waiting", from: 1 }] as const)
        await assert.rejects(
          history.list({ ...filter, order: "longest_open", limit: 1 }),
          RangeError,
        );
      const many = Array.from({ length: 1_001 }, (_, index) =>
        event(harness, `run${index}`, started),
      );
      await assert.rejects(history.record(many), RangeError);
      await assert.rejects(history.audits(0), RangeError);
      await assert.rejects(history.audits(10, Number.NaN), RangeError);
      await assert.rejects(history.audit({ ...action(harness, "x"), at: -1 }), RangeError);
      await assert.rejects(history.beat(instance(harness, "a:b")), RangeError);
      assert.deepEqual(await idsOf(history), []);
      await history.record(many.slice(1));
      assert.equal((await history.counts()).byStatus.running, 1_000);
    },
  },
];
