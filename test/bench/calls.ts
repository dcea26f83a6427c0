/** The operations that the suites load servers with. */
import type { OperationSpec } from "./operations.ts";
import {
  confirmedText,
  confirmOnceTool,
  confirmRepeatableTool,
  echoText,
  echoTool,
  stepsText,
  stepsTool,
} from "./workload.ts";

/** One tool call, about 1 KB. */
export const echoCall: OperationSpec = {
  kind: "call",
  tool: echoTool,
  args: { text: echoText },
  text: echoText,
};

/** A whole confirm flow of a repeatable tool; the official SDK's tool has the same name. */
export const confirmRepeatable: OperationSpec = confirmFlow(confirmRepeatableTool);

/** A whole confirm flow of a once tool. */
export const confirmOnce: OperationSpec = confirmFlow(confirmOnceTool);

/** A run that records `count` steps. */
export function stepsCall(count: number): OperationSpec {
  return { kind: "call", tool: stepsTool(count), args: {}, text: stepsText(count) };
}

/** A bare request that makes `count` durable commits. */
export function commitsPost(count: number): OperationSpec {
  return { kind: "post", text: stepsText(count) };
}

function confirmFlow(tool: string): OperationSpec {
  return { kind: "confirm", tool, args: { orderId: "42" }, text: confirmedText };
}
