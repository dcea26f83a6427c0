/**
 * `reprise runs`: what an operator sees and does of runs from a terminal, on a data directory or on Redis.
 *
 * The command line calls it. People get a table, scripts JSON. Values of authors and callers are shown only with `reveal`, and that,
 * like every action, is in the audit log.
 */
import { userInfo } from "node:os";
import { RepriseError } from "@reprise/errors";
import type { HistoryQuery, OperatorOutcome, RunRecord } from "@reprise/runtime";
import { operatorExitCodes } from "./operatorExitCodes.ts";
import { openPlace, type PlaceFlags, type RunsPlace } from "./runsPlace.ts";
import { runsTable, runText } from "./runsText.ts";

/** What every command on runs is told. */
export interface RunsFlags extends PlaceFlags {
  readonly json?: true;
}

/** Which runs to list. */
export interface ListFlags {
  readonly status?: HistoryQuery["status"];
  readonly tool?: string;
  readonly caller?: string;
  /** ISO 8601, or a span back from now: `2h`, `3d`. */
  readonly since?: string;
  readonly until?: string;
  /** Of what waits, the question that is open longest first. */
  readonly longestOpen?: true;
  readonly limit: number;
  readonly cursor?: string;
}

/** What is to be done. */
export type RunsAction =
  | { readonly name: "list"; readonly flags: ListFlags }
  | { readonly name: "show"; readonly runId: string; readonly reveal: boolean }
  /** The run of an idempotency key. */
  | {
      readonly name: "find";
      readonly tool: string;
      readonly key: string;
      readonly caller: string | undefined;
    }
  | { readonly name: "cancel"; readonly runId: string; readonly reason: string | undefined }
  | { readonly name: "retry" | "release"; readonly runId: string }
  | {
      readonly name: "finish";
      readonly runId: string;
      readonly as: "completed" | "failed";
      readonly text: string;
    };

interface Performed {
  readonly exitCode: number;
  readonly outcome: object;
  readonly text: string;
  /** What went wrong beside it. */
  readonly complaint?: string;
}

/**
 * Does it and prints what came of it; `complain` is told what else went wrong. Gives the exit code.
 * @throws RepriseError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE
 */
export async function runRuns(
  action: RunsAction,
  flags: RunsFlags,
  { print, complain }: Record<"print" | "complain", (text: string) => void>,
): Promise<number> {
  try {
    const place = await openPlace(flags);
    try {
      const { exitCode, outcome, text, complaint } = await perform(action, place);
      print(flags.json === true ? JSON.stringify(outcome, undefined, 2) : text);
      if (complaint !== undefined) complain(complaint);
      return exitCode;
    } finally {
      await place.close();
    }
  } catch (error) {
    // Misuse of an option for those functions; here, what somebody typed.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new RepriseError("CONFIG_INVALID", error.message, { cause: error });
  }
}

async function perform(action: RunsAction, place: RunsPlace): Promise<Performed> {
  const { operator } = place;
  switch (action.name) {
    case "list":
      return await listed(action.flags, place);
    case "show":
      return await shown(action.runId, action.reveal, place);
    case "find": {
      const runId = await operator.findByKey(action.tool, action.key, action.caller);
      if (runId === undefined) return notFound("No run has that key.");
      return { exitCode: operatorExitCodes.done, outcome: { runId }, text: runId };
    }
    default: {
      const performed = performedOf(action, await acted(action, place));
      try {
        await audit(place, action.name, action.runId, performed.outcome.kind);
        return performed;
      } catch (error) {
        // It is done: whoever was told that it failed would do it again.
        const why = error instanceof Error ? error.message : String(error);
        const complaint = `This is not in the audit log, which could not be written: ${why}`;
        return { ...performed, outcome: { ...performed.outcome, unaudited: true }, complaint };
      }
    }
  }
}

type Acting = Extract<RunsAction, { readonly name: "cancel" | "retry" | "release" | "finish" }>;

function acted(action: Acting, { operator }: RunsPlace): Promise<OperatorOutcome> {
  switch (action.name) {
    case "cancel":
      return operator.cancel(action.runId, action.reason);
    case "retry":
      return operator.retry(action.runId);
    case "release":
      return operator.release(action.runId);
    case "finish":
      return operator.finish(action.runId, { as: action.as, text: action.text });
  }
}

/** @throws what the history throws */
function audit(
  { history, now }: RunsPlace,
  action: string,
  target: string,
  outcome: string,
): Promise<void> {
  const actor = `command:${userInfo().username}`;
  return history.audit({ at: now(), actor, action, target, outcome });
}

interface PerformedAction extends Performed {
  readonly outcome: { readonly kind: OperatorOutcome["kind"]; readonly runId?: string };
}

function performedOf({ runId, name }: Acting, outcome: OperatorOutcome): PerformedAction {
  switch (outcome.kind) {
    case "done": {
      const text = `${name}: run ${runId} is ${outcome.status} now.`;
      return { exitCode: operatorExitCodes.done, outcome: { runId, ...outcome }, text };
    }
    case "not_applicable": {
      const text = `${name} does not apply: run ${runId} is ${outcome.status}, and ${outcome.why}.`;
      return { exitCode: operatorExitCodes.notApplicable, outcome: { runId, ...outcome }, text };
    }
    case "unknown":
      return notFound(`There is no run ${runId}.`);
  }
}

async function listed(flags: ListFlags, { history }: RunsPlace): Promise<Performed> {
  const { status, tool, caller, since, until, longestOpen, limit, cursor } = flags;
  const page = await history.list({
    ...{ status, handler: tool, principal: caller, limit, cursor },
    order: longestOpen === true ? "longest_open" : undefined,
    from: since === undefined ? undefined : momentOf("--since", since),
    to: until === undefined ? undefined : momentOf("--until", until),
  });
  const more = page.next === undefined ? "" : `\n\nMore: --cursor ${page.next}`;
  return {
    exitCode: operatorExitCodes.done,
    outcome: page,
    text: runsTable(page.runs) + more,
  };
}

async function shown(runId: string, reveal: boolean, place: RunsPlace): Promise<Performed> {
  const { operator, history } = place;
  const [record, summary, timeline] = await Promise.all([
    operator.show(runId),
    history.summary(runId),
    history.timeline(runId),
  ]);
  if (record === undefined && summary === undefined) return notFound(`There is no run ${runId}.`);
  // Before anything is shown: values that nobody can be asked about are not shown.
  if (reveal && record !== undefined) await audit(place, "reveal", runId, "done");
  return {
    exitCode: operatorExitCodes.done,
    outcome: { record: record && (reveal ? record : hidden(record)), summary, timeline },
    text: runText(record, summary, timeline, reveal),
  };
}

/** A record without what author, caller or client wrote. */
function hidden({ origin, head, entries }: RunRecord): object {
  const { runId, method, handler, target, startedAt, caller } = origin;
  const { status, round, epoch, takeovers, version, updatedAt, expiresAt, stateExpiresAt } = head;
  return {
    origin: { runId, method, handler, target, startedAt, principal: caller.principal },
    head: { status, round, epoch, takeovers, version, updatedAt, expiresAt, stateExpiresAt },
    pending: head.pending.map(({ key }) => ({ key })),
    entries: entries.map((entry) => ({
      kind: entry.kind,
      name: entry.kind === "answer_taken" ? entry.key : entry.name,
      at: entry.at,
    })),
  };
}

function notFound(text: string): PerformedAction {
  return { exitCode: operatorExitCodes.notFound, outcome: { kind: "unknown" }, text };
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment that somebody typed. @throws RangeError */
function momentOf(option: string, text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const spanMs = units[unit];
  if (count !== undefined && spanMs !== undefined) return Date.now() - Number(count) * spanMs;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new RangeError(`${option}: "${text}" is neither a time nor a span such as 2h`);
  return at;
}
