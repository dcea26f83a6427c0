/** What the conformance suite tells the client under test. It has no other way than the environment. */

import process from "node:process";

/** The scenario that is running. */
export const scenario: string = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";

/** What the scenario wants done, as JSON; absent for most. */
export const scenarioContext: string | undefined = process.env["MCP_CONFORMANCE_CONTEXT"];
