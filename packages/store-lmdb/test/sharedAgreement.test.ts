/**
 * Shared records on lmdb and those of one process are the same: every sequence of calls, by two stores, gets the same replies.
 */
import { test } from "vitest";
import { longRun, seed } from "../../../test/support/config.ts";
import { agreeOnSharedRecords } from "../../../test/support/sharedAgreement.ts";
import { freshDirectory, sharedHarness } from "./support/stores.ts";

test("shared records on lmdb agree with those of one process", { timeout: 240_000 }, async () => {
  const numRuns = longRun ? 500 : 25;
  await agreeOnSharedRecords(() => sharedHarness(freshDirectory()).harness, { numRuns, seed });
});
