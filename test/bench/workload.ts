/**
 * What the servers and the load generator agree on: tool names, arguments, texts and sizes.
 */

/** About 1 KB of request, envelope included. */
export const echoText: string = "The quick brown fox jumps over the lazy dog. ".repeat(14);

/** The name every server gives itself, so that equal replies have equal bytes. */
export const serverName = "bench";
export const serverVersion = "1.0.0";

export const echoTool = "echo";
export const confirmRepeatableTool = "confirm_repeatable";
export const confirmOnceTool = "confirm_once";

/** The question and the end of a confirm flow. */
export const question = "Refund order 42 to anna@example.com?";
export const confirmedText = "Refunded.";

/** Runs that record this many steps, and bare requests that make as many durable commits. */
export const stepCounts = [0, 1, 5] as const;
export const stepsTool = (count: number): string => `steps_${count}`;
export const stepsText = (count: number): string => `${count} steps`;

/** The same runs under an idempotency key, which is this argument. */
export const keyArgument = "orderId";
export const keyedStepsTool = (count: number): string => `keyed_steps_${count}`;
export const keyedConfirmTool = "keyed_confirm";

/** Runs whose difference in length makes the cost of a step on Redis, and as many bare scripts. */
export const redisStepCounts = [1, 21] as const;

/** One run of many steps, that times those early and late in it. */
export const longRunTool = "long_run";
export const longRunSteps = 10_000;
/** How many steps are timed at either end; the early ones begin with the tenth. */
export const longRunWindow = 100;

/** What a step returns, and what a bare commit stores beside it: the entry's envelope. */
export const stepResult: string = "0123456789abcdef".repeat(16);
export const commitBytes = 512;

/** The queue of the bare jobs beside the pool, and how many a worker executes at a time, on either side. */
export const jobsQueue = "jobs";
export const workerConcurrency = 50;
