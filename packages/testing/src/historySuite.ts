/**
 * What every adapter of the history port must do, as data: its conformance suite.
 *
 * Called by each adapter's tests with a harness of its own; it imports no test runner. A case that fails rejects with an
 * assertion error that shows what came instead. That a page costs little (H2) is each adapter's own to show.
 */
import { besideCases } from "./historySuite/besideCases.ts";
import { eventCases } from "./historySuite/eventCases.ts";
import type { HistoryCase } from "./historySuite/fixtures.ts";
import { listCases } from "./historySuite/listCases.ts";

/** All cases. Each needs a harness with no data in it. */
export const historySuite: readonly HistoryCase[] = [...listCases, ...eventCases, ...besideCases];
