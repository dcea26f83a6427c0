/** The operations that the suites load servers with. */
import type { HttpSpec } from "./operations.ts";
import {
  confirmedText,
  confirmOnceTool,
  confirmRepeatableTool,
  echoText,
  echoTool,
  keyArgument,
  keyedConfirmTool,
  keyedStepsTool,
  stepsText,
  stepsTool,
} from "./workload.ts";

/** One tool call, about 1 KB. */
export const echoCall: HttpSpec = {
  kind: "call",
  tool: echoTool,
  args: { text: echoText },
  text: echoText,
};

/** A whole confirm flow of a repeatable tool; the official SDK's tool has the same name. */
export const confirmRepeatable: HttpSpec = confirmFlow(confirmRepeatableTool);

/** A whole confirm flow of a once tool. */
export const confirmOnce: HttpSpec = confirmFlow(confirmOnceTool);

/** The same under an idempotency key of its own. */
export const confirmKeyed: HttpSpec = {
  kind: "confirm",
  tool: keyedConfirmTool,
  args: {},
  fresh: keyArgument,
  text: confirmedText,
};

/** A run that records `count` steps. */
export function stepsCall(count: number): HttpSpec {
  return { kind: "call", tool: stepsTool(count), args: {}, text: stepsText(count) };
}

/** The same under an idempotency key of its own. */
export function keyedStepsCall(count: number): HttpSpec {
  const tool = keyedStepsTool(count);
  return { kind: "call", tool, args: {}, fresh: keyArgument, text: stepsText(count) };
}

/** A bare request that calls `count` scripts. */
export function scriptsPost(count: number): HttpSpec {
  return { kind: "post", text: stepsText(count) };
}

/** A bare request that is answered through one job. */
export const jobPost: HttpSpec = { kind: "post", text: echoText };

/** A bare request that makes `count` durable commits. */
export function commitsPost(count: number): HttpSpec {
  return { kind: "post", text: stepsText(count) };
}

function confirmFlow(tool: string): HttpSpec {
  return { kind: "confirm", tool, args: { [keyArgument]: "42" }, text: confirmedText };
}
