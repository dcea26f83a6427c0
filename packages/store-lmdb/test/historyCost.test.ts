/**
 * What a page of history costs the embedded store (H2): keys and values that are read, counted, whatever is kept. 100,000 finished and
 * 10,000 waiting runs in long runs; a fiftieth of it else, under the same bounds.
 */
import assert from "node:assert/strict";
import { costlyQueries, fillHistory } from "@reprise/testing";
import { describe, test, vi } from "vitest";
import { longRun } from "../../../test/support/config.ts";
import { freshDirectory, openStore } from "./support/stores.ts";

const [FINISHED, WAITING] = longRun ? [100_000, 10_000] : [2_000, 200];
/** 51 entries and 50 rows; of two filters 500 of each; and as many again for rows that are gone meanwhile. */
const MAX_READ = { plain: 2 * (51 + 50), filtered: 2 * 1_000 };
/** A number and a look for what is left over of each list, and the oldest question. */
const MAX_COUNTED = 10 * 2 + 10;

const read = vi.hoisted(() => ({ count: 0 }));

vi.mock("lmdb", async (original) => {
  const { open } = await original<typeof import("lmdb")>();
  /** Counts what is read, key by key, and hands it on. */
  function* counted<Value>(values: Iterable<Value>): Generator<Value> {
    for (const value of values) {
      read.count += 1;
      yield value;
    }
  }
  return {
    open: (...options: Parameters<typeof open>) => {
      const database = open(...options);
      const get = database.get.bind(database);
      const getKeys = database.getKeys.bind(database);
      const getRange = database.getRange.bind(database);
      return Object.assign(database, {
        get: (...call: Parameters<typeof get>) => {
          read.count += 1;
          return get(...call);
        },
        getKeys: (...call: Parameters<typeof getKeys>) => counted(getKeys(...call)),
        getRange: (...call: Parameters<typeof getRange>) => counted(getRange(...call)),
      });
    },
  };
});

describe("a page of history in the embedded store", () => {
  test(`reads few keys with ${FINISHED} finished and ${WAITING} waiting runs`, {
    timeout: 600_000,
  }, async () => {
    const { history } = await openStore({ directory: freshDirectory() });
    const now = Date.now();
    await fillHistory(history, { now: () => now }, FINISHED, WAITING);
    const printed: string[] = [];
    for (const [name, query] of Object.entries(costlyQueries(now))) {
      let cursor: string | undefined;
      for (let page = 1; page <= 2; page += 1) {
        read.count = 0;
        const found = await history.list({ ...query, cursor });
        cursor = found.next;
        printed.push(`${name}, page ${page}: ${read.count} read, ${found.runs.length} shown`);
        const two = query.principal !== undefined && query.handler !== undefined;
        assert.ok(read.count <= (two ? MAX_READ.filtered : MAX_READ.plain), printed.at(-1));
        assert.ok(read.count >= found.runs.length, "nothing was counted");
        if (cursor === undefined) break;
      }
    }
    read.count = 0;
    const { byStatus } = await history.counts();
    assert.deepEqual(byStatus, { completed: FINISHED, waiting: WAITING });
    printed.push(`counts: ${read.count} read`);
    assert.ok(read.count <= MAX_COUNTED, printed.at(-1));
    process.stdout.write(`${printed.join("\n")}\n`);
  });
});
