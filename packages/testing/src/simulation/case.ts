/**
 * One case: a random program, a run of it in trouble, and the judgement. A number says all of it.
 */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "@reprise/journal";
import type { Reply } from "./calls.ts";
import { doneIn, judgeLog, judgeRecord, judgeUndone, runsOf } from "./checker.ts";
import { Client } from "./client.ts";
import type { Said } from "./execute.ts";
import type { Fleet, FleetOptions } from "./fleet.ts";
import {
  asRepeatable,
  deployOf,
  newProgram,
  withDeadline,
  withPages,
  withUndo,
} from "./generate.ts";
import { toldHappening } from "./history.ts";
import { type Outcome, outcomesOf } from "./model.ts";
import { type Program, printed } from "./program.ts";
import { type Draw, drawFrom } from "./random.ts";
import { Violation } from "./violation.ts";

/** What a case was made of, for the sums at the end. */
export interface CaseReport {
  readonly codes: readonly string[];
  readonly crashes: number;
  readonly pauses: number;
  readonly storeFailures: number;
  readonly disconnects: number;
  readonly effects: number;
  readonly repeatedEffects: number;
  readonly questions: number;
  /** Questions that were found unanswered behind their deadline. */
  readonly expiries: number;
  /** Pages of URL asks that were completed. */
  readonly pages: number;
  /** 1 for a run whose effects may repeat. */
  readonly repeatables: number;
  readonly deployed: boolean;
  readonly lostRecords: number;
}

/** A case that shows a broken promise. Its message is the whole story. */
export class StoryError extends Error {
  /** The promise alone. */
  readonly why: string;

  constructor(story: string, cause: unknown) {
    super(story, { cause });
    this.why = cause instanceof Error ? cause.message : String(cause);
  }
}

/** Drawn apart: what a seed's program is without undo does not hang on it. */
const UNDO_STREAM = 0x3c6ef372;
const DEADLINE_STREAM = 0x1f83d9ab;
const PAGE_STREAM = 0x5be0cd19;
const REPEATABLE_STREAM = 0x510e527f;
const REPEATABLE_PERCENT = 20;

interface Made {
  readonly programs: readonly Program[];
  readonly outcomes: readonly Outcome[];
  readonly what: string;
  readonly keyed: boolean;
  readonly repeatable: boolean;
}

/**
 * Plays the case of a seed on a fleet.
 * @param isPlayed whether programs may have questions that must be answered soon, pages, and effects that may repeat: only where
 *   time, pages and states are played
 * @throws Error that shows the program and everything that happened
 */
export async function playCase(
  seed: number,
  open: (options: FleetOptions) => Fleet,
  isPlayed = false,
): Promise<CaseReport> {
  const draw = drawFrom(seed);
  const made = make(draw, seed, isPlayed);
  const fleet = open({ programs: made.programs, keyed: made.keyed, draw, seed });
  const client = new Client(fleet, made.programs, made.keyed, draw);
  let lostRecords = 0;
  try {
    try {
      const ending = await client.converse();
      if (ending.kind === "complete") {
        await judgeEnd(client, fleet, made, ending.result);
        if (draw.chance(20) && !made.repeatable) lostRecords = await loseRecord(client, fleet);
      }
      if (ending.kind !== "complete" && ending.kind !== "parked") await judgeRecords(fleet, made);
      await fleet.judgeRest?.();
    } finally {
      await fleet.close();
    }
    if (!made.repeatable) judgeLog(fleet.world, made.programs, made.keyed);
    return reportOf(client, fleet, made, lostRecords);
  } catch (error) {
    throw new StoryError(story(seed, made, client, fleet, error), error);
  }
}

function make(draw: Draw, seed: number, isPlayed: boolean): Made {
  const undoDraw = drawFrom(seed ^ UNDO_STREAM);
  const deadlineDraw = drawFrom(seed ^ DEADLINE_STREAM);
  const pageDraw = drawFrom(seed ^ PAGE_STREAM);
  const isRepeatable = isPlayed && drawFrom(seed ^ REPEATABLE_STREAM).chance(REPEATABLE_PERCENT);
  for (;;) {
    const undoable = withUndo(newProgram(draw), undoDraw);
    const program = isPlayed ? changed(undoable, isRepeatable, pageDraw, deadlineDraw) : undoable;
    const keyed = draw.chance(60) && !isRepeatable;
    const deploy = draw.chance(35) ? deployOf(program, draw) : undefined;
    const programs = deploy === undefined ? [program] : [program, deploy.program];
    const outcomes = programs.map(outcomesOf);
    if (outcomes.includes(undefined)) continue;
    const what = deploy?.what ?? "no deploy";
    return {
      programs,
      outcomes: outcomes.flatMap((some) => some ?? []),
      what,
      keyed,
      repeatable: isRepeatable,
    };
  }
}

function changed(
  program: Program,
  isRepeatable: boolean,
  pageDraw: Draw,
  deadlineDraw: Draw,
): Program {
  const paged = withPages(program, pageDraw);
  return isRepeatable ? asRepeatable(paged) : withDeadline(paged, deadlineDraw);
}

/** The result is one of the model's, and stays what it is whoever asks again. */
async function judgeEnd(
  client: Client,
  fleet: Fleet,
  made: Made,
  result: JsonObject,
): Promise<void> {
  const { run } = judgeResult(fleet, made, result);
  await fleet.settle();
  await fleet.pass(1_000);
  if (made.repeatable) return judgeOlderStates(client, fleet, made);
  // A first call that was held up until the run had failed goes on from its failed step, and so it should.
  const response = (await fleet.peek(run))?.head.response;
  const isLast = response?.kind === "complete" && isDeepStrictEqual(response.result, result);
  if (isLast || !made.keyed) await judgeRepeats(client, fleet, run, result);
  await judgeRecords(fleet, made);
  if (!made.keyed || !isLast) return;
  const record = await fleet.peek(run);
  if (record === undefined) return;
  const { head } = record;
  const again = await client.callAgain();
  if (head.keyFree) {
    const isNew = again.kind === "question" || saidIn(again)?.run !== run;
    if (!isNew) throw new Violation("the key is free, and the next call got the old run");
  } else if (head.status === "completed" && head.stepCompleted) {
    requireSame(again, result, "the first call again");
  } else if (head.status === "failed") {
    const ending = again.kind === "complete" ? again : await client.converse();
    if (ending.kind === "complete") judgeResult(fleet, made, ending.result);
  }
}

async function judgeRecords(fleet: Fleet, { programs }: Made): Promise<void> {
  for (const run of runsOf(fleet.world)) {
    const record = await fleet.peek(run);
    judgeRecord(fleet.world, programs, run, record);
    if (record !== undefined) judgeUndone(fleet.world, programs, record);
  }
}

function judgeResult(fleet: Fleet, made: Made, result: JsonObject): Said {
  const said = saidIn({ kind: "complete", result });
  if (said === undefined)
    throw new Violation(`no result of the program: ${JSON.stringify(result)}`);
  const kind = result["isError"] === true ? "threw" : "returned";
  const done = doneIn(fleet.world, said.run);
  const fitting = made.outcomes.filter((one) => one.kind === kind && one.value === said.value);
  if (fitting.length === 0) {
    throw new Violation(`${kind} ${said.value}, which no undisturbed run comes to`);
  }
  if (!fitting.some(({ must }) => [...must].every((step) => done.has(step)))) {
    throw new Violation(`the result is there, a step is not: ${[...done].join(", ")} were done`);
  }
  return said;
}

async function judgeRepeats(
  client: Client,
  fleet: Fleet,
  run: string,
  result: JsonObject,
): Promise<void> {
  // Meanwhile a sweep may go on with another run of the call.
  const attempts = (): number =>
    fleet.world.log.filter((one) => one.is === "attempt" && one.run === run).length;
  const before = attempts();
  const questions = client.history;
  const replies = await client.retryAll();
  let repeated = 0;
  replies.forEach((reply, index) => {
    if (questions[index]?.run !== run) return;
    repeated += 1;
    requireSame(reply, result, `round ${questions[index]?.round} again`);
  });
  if (repeated === replies.length && attempts() !== before) {
    throw new Violation("a finished round was executed again");
  }
}

/** Whoever brings an older state with its answers comes to a result that is as good. */
async function judgeOlderStates(client: Client, fleet: Fleet, made: Made): Promise<void> {
  for (const reply of await client.retryAll()) {
    if (reply.kind === "complete") judgeResult(fleet, made, reply.result);
  }
}

/** A state whose record is missing, or older than the state, is never run. */
async function loseRecord(client: Client, fleet: Fleet): Promise<number> {
  const retry = client.newestRetry;
  if (retry === undefined) return 0;
  const before = fleet.world.log.length;
  const reply = await fleet.sendElsewhere(retry.call);
  if (reply.kind !== "error" || reply.code !== "RUN_LOST") {
    throw new Violation(`a state whose record is missing got ${JSON.stringify(reply)}`);
  }
  if (fleet.world.log.slice(before).some(({ is }) => is === "attempt")) {
    throw new Violation("a state whose record is missing was run");
  }
  return 1;
}

function requireSame(reply: Reply, result: JsonObject, what: string): void {
  const text = reply.kind === "complete" ? JSON.stringify(reply.result) : JSON.stringify(reply);
  if (text !== JSON.stringify(result)) {
    throw new Violation(`${what} got ${text} instead of ${JSON.stringify(result)}`);
  }
}

function saidIn(reply: Reply): Said | undefined {
  const result = reply.kind === "complete" ? reply.result : {};
  const [first] = Array.isArray(result["content"]) ? result["content"] : [];
  const text = isJsonObject(first ?? null) ? (first as JsonObject)["text"] : undefined;
  try {
    return typeof text === "string" ? (JSON.parse(text) as Said) : undefined;
  } catch {
    return undefined;
  }
}

function reportOf(client: Client, fleet: Fleet, made: Made, lostRecords: number): CaseReport {
  const { log } = fleet.world;
  const count = (is: string): number => log.filter((one) => one.is === is).length;
  const repeated = log.filter((one) => one.is === "done" && one.repeated).length;
  return {
    codes: client.codes,
    crashes: count("crashed"),
    pauses: count("paused"),
    storeFailures: count("storeFailed"),
    disconnects: count("gone"),
    effects: count("done") - repeated,
    repeatedEffects: repeated,
    questions: client.history.length,
    expiries: count("expired"),
    pages: client.pages.completed,
    repeatables: made.repeatable ? 1 : 0,
    deployed: client.transcript.some((line) => line.startsWith("version ")),
    lostRecords,
  };
}

function deadlineIn({ programs: [program] }: Made): string {
  if (program?.repeatable === true) return "repeatable";
  const within = program?.answerWithinMs;
  return within === undefined ? "no deadline" : `answers within ${within} ms`;
}

function story(seed: number, made: Made, client: Client, fleet: Fleet, error: unknown): string {
  const happened = fleet.world.log.map((one) => `  ${toldHappening(one)}`);
  return [
    `case ${seed}: ${error instanceof Error ? error.message : String(error)}`,
    `program (${made.keyed ? "with a key" : "without a key"}; ${deadlineIn(made)}; ${made.what}):`,
    ...made.programs.map(({ version, body }) => `version ${version}\n${printed(body, "  ")}`),
    "conversation:",
    ...client.transcript.map((line) => `  ${line}`),
    "what happened:",
    ...happened,
    `play it alone with ${fleet.playedAloneBy}${seed}`,
  ].join("\n");
}
