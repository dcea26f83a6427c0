/**
 * What every adapter of the port of shared records must do, as data: its conformance suite.
 *
 * Called by each adapter's tests with a harness of its own; it imports no test runner. A case that fails rejects with an
 * assertion error that shows what came instead. S1 to S6 are those of the port.
 */
import { closingCases } from "./sharedSuite/closingCases.ts";
import type { SharedCase } from "./sharedSuite/fixtures.ts";
import { logCases } from "./sharedSuite/logCases.ts";
import { noticeCases } from "./sharedSuite/noticeCases.ts";
import { recordCases } from "./sharedSuite/recordCases.ts";
import { refusalCases } from "./sharedSuite/refusalCases.ts";

/** All cases. Each needs a harness with no data in it. */
export const sharedSuite: readonly SharedCase[] = [
  ...recordCases,
  ...logCases,
  ...noticeCases,
  ...refusalCases,
  ...closingCases,
];
