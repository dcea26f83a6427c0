/**
 * What every adapter of the run store port must do, as data: the store conformance suite.
 *
 * Called by each adapter's tests with a harness of its own; it imports no test runner. A case that fails rejects with an
 * assertion error that shows what came instead.
 */
import { attemptCases } from "./storeSuite/attemptCases.ts";
import { cancelCases } from "./storeSuite/cancelCases.ts";
import type { StoreCase } from "./storeSuite/fixtures.ts";
import { keyCases } from "./storeSuite/keyCases.ts";
import { lifetimeCases } from "./storeSuite/lifetimeCases.ts";
import { operateCases } from "./storeSuite/operateCases.ts";
import { queueCases } from "./storeSuite/queueCases.ts";
import { roundCases } from "./storeSuite/roundCases.ts";
import { takeoverCases } from "./storeSuite/takeoverCases.ts";
import { undoCases } from "./storeSuite/undoCases.ts";
import { waiterCases } from "./storeSuite/waiterCases.ts";

/** All cases. Each needs a harness with no data in it. */
export const storeSuite: readonly StoreCase[] = [
  ...attemptCases,
  ...roundCases,
  ...keyCases,
  ...takeoverCases,
  ...waiterCases,
  ...queueCases,
  ...cancelCases,
  ...undoCases,
  ...operateCases,
  ...lifetimeCases,
];
