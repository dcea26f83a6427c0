/**
 * Listeners of notices neither disturb nor outlive each other.
 */
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { NoticeListeners } from "@reprise/runtime";
import { describe, test } from "vitest";

describe("listeners of notices", () => {
  test("who is ended by another listener of the same notice is not called any more", () => {
    const listeners = new NoticeListeners();
    const heard: string[] = [];
    listeners.add("changes", () => endSecond());
    const endSecond = listeners.add("changes", (notice) => heard.push(notice));
    listeners.tell("changes", "a");
    assert.deepEqual(heard, []);
  });

  test("an end that is said twice does not end who began in between", () => {
    const listeners = new NoticeListeners();
    const heard: string[] = [];
    const end = listeners.add("changes", () => heard.push("first"));
    end();
    assert.equal(listeners.isEmpty, true);
    listeners.add("changes", () => heard.push("second"));
    end();
    listeners.tell("changes", "a");
    assert.deepEqual(heard, ["second"]);
    assert.equal(listeners.has("changes"), true);
  });

  test("one that throws keeps no other from hearing, and its fault is told to the process", async () => {
    const listeners = new NoticeListeners();
    const heard: string[] = [];
    listeners.add("changes", () => {
      throw new Error("a faulty listener");
    });
    listeners.add("changes", (notice) => heard.push(notice));
    // The test runner's own listeners would end the run.
    const usual = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    const faults: unknown[] = [];
    process.on("uncaughtException", (fault) => faults.push(fault));
    try {
      listeners.tell("changes", "a");
      await nextTurn();
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const listener of usual) process.on("uncaughtException", listener);
    }
    assert.deepEqual(heard, ["a"]);
    assert.match(String(faults), /a faulty listener/);
  });

  test("after all are ended nobody is called", () => {
    const listeners = new NoticeListeners();
    const end = listeners.add("changes", () => assert.fail());
    listeners.clear();
    listeners.tell("changes", "a");
    end();
    assert.equal(listeners.isEmpty, true);
  });
});
