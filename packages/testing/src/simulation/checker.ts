/**
 * Judges a case by the log of its world and by the records that are left.
 *
 * 1. A step whose entry the store has is never entered again, by whatever name. An instance that was taken for dead while it was
 *    paused may enter what it had prepared, until its first refused write; nothing else of it counts.
 * 2. A completed or undone entry is never lost: every later attempt of the run gets it. No run has two entries of one name.
 * 3. One step of one run has one key, and every time it is entered under that key it has the same inputs, until a failed run is
 *    gone on with or a deploy has changed what it reads.
 * 4. A step of policy "fail" happens at most once, whatever a deploy calls it, one that looks its key up at most once more for
 *    each pause. What a process had called before it died may arrive behind the look-up, and is not counted.
 * 5. Every attempt of a round begins with the same state.
 * 6. A key is free only when every step that was entered said that nothing happened, or the remote said so when it was looked up. What a
 *    process that is paused or dead had called before others got the run may come about all the same.
 * 7. Nothing is recorded by an attempt once a later one of its run was given out. (Only where things are noted in the order in
 *    which the store does them.)
 * 8. But for what a paused process had called before it was paused: to a remote that knows keys, a step of one idempotency key happens once, over all runs of that key.
 * 9. To a remote that knows none, a step happens once more at most for each of its own doubts (under each name that a deploy gave
 *    it) and for each thing that went wrong.
 * 10. When nobody asks any more, every run has ended, waits for an answer, or needs attention by name; none is only begun.
 * 11. When everything has expired, nothing is left: no run, no journal, no key.
 * 12. Once a step of a run is undone, no step of it is entered. Nothing is undone twice to a remote that knows keys, and nothing
 *    again whose undo is recorded.
 * 13. Of a run that is recorded as undone, every step with an undo function that was done is undone.
 * 14. An answer that comes behind its deadline is not taken: by the store's clock where there is something to undo, else by that of the
 *    process that judges the state, when it does. What the run did is undone then, though nobody comes.
 */
import { type Entry, nameOf, operationOf } from "@reprise/journal";
import type { RunRecord } from "@reprise/runtime";
import type { MemorySnapshot } from "../memoryRecords.ts";
import { nodesOf, type Program, type StepNode } from "./program.ts";
import { Violation } from "./violation.ts";
import type { Happening, World } from "./world.ts";

/** Ids of the steps that happened in a run. */
export function doneIn(world: World, run: string): ReadonlySet<string> {
  const done = new Set<string>();
  for (const one of world.log) if (one.is === "done" && one.run === run) done.add(one.step);
  return done;
}

/** All runs of a case. */
export function runsOf(world: World): readonly string[] {
  return [...new Set(world.log.flatMap((one) => (one.is === "attempt" ? [one.run] : [])))];
}

/** What is known of one run while the log is read. */
interface Known {
  /** Names of completed entries. */
  readonly completed: Set<string>;
  /** All entries, in order. */
  entries: readonly string[];
  /** Counts up when a failed run is gone on with. */
  life: number;
}

/** @throws Violation for rules 1 to 5, 7 to 9 and 14 */
export function judgeLog(world: World, programs: readonly Program[], keyed: boolean): void {
  judgeEffects(world, programs, keyed);
  judgeLateAnswers(world);
  if (world.isCommitOrdered) judgeEpochs(world);
  const ids = idsByName(programs);
  const policies = policiesOf(programs);
  const runs = new Map<string, Known>();
  const runOf = (run: string): Known => {
    const known = runs.get(run) ?? { completed: new Set(), entries: [], life: 0 };
    runs.set(run, known);
    return known;
  };
  const unaware = new Set<string>();
  // What was called before a pause arrives after it, whatever the process has learned by then: an undo is noted where it arrives.
  const paused = new Set<string>();
  const undone = new Map<string, Set<string>>();
  const inputs = new Once("one key, other inputs");
  const keys = new Once("one step, other key");
  const states = new Once("one round, other state");
  const times = new Map<string, number>();
  const dead = new Set<string>();
  let pauses = 0;
  for (const one of world.log) {
    switch (one.is) {
      case "paused":
        pauses += 1;
        unaware.add(one.instance);
        paused.add(one.instance);
        break;
      case "crashed":
        dead.add(one.instance);
        break;
      case "fenced":
        unaware.delete(one.instance);
        break;
      case "attempt":
        states.same(`${one.run} round ${one.round}`, one.state);
        break;
      case "claimed":
      case "recorded":
        learn(runOf(one.run), one, ids);
        break;
      case "entered": {
        const { completed, entries, life } = runOf(one.run);
        const isRecorded = completed.has(one.step) || entries.includes(`step_failed ${one.name}`);
        if (isRecorded && !unaware.has(one.instance)) {
          throw new Violation(`step ${one.name} is recorded and was entered again`);
        }
        if (undone.has(one.run) && !unaware.has(one.instance)) {
          throw new Violation(`step ${one.name} was entered in a run that is being undone`);
        }
        inputs.same(`${one.run} ${one.key} version ${one.version} life ${life}`, one.inputs);
        keys.same(`${one.run} ${one.name}`, one.key);
        break;
      }
      case "undone": {
        const steps = undone.get(one.run) ?? new Set();
        undone.set(one.run, steps);
        if (!one.repeated && steps.has(one.step)) {
          throw new Violation(`step ${one.step} of ${one.run} was undone under two keys`);
        }
        steps.add(one.step);
        const isRecorded = runOf(one.run).entries.some((entry) => {
          const [kind, name = ""] = entry.split(" ");
          return kind === "step_undone" && (ids.get(name) ?? name) === one.step;
        });
        if (isRecorded && !paused.has(one.instance)) {
          throw new Violation(`the undo of ${one.step} is recorded and was made again`);
        }
        break;
      }
      case "done": {
        const step = `${one.run} ${one.step}`;
        const policy = policies.get(one.step);
        if (policy === "lookup" && dead.has(one.instance)) break;
        const count = (times.get(step) ?? 0) + 1;
        times.set(step, count);
        const most =
          policy === "fail" ? 1 : policy === "lookup" ? 1 + pauses : Number.POSITIVE_INFINITY;
        if (count > most)
          throw new Violation(`step ${one.step} (${policy}) happened ${count} times`);
        break;
      }
      default:
        break;
    }
  }
}

/** @throws Violation for rules 2 and 6 */
export function judgeRecord(
  world: World,
  programs: readonly Program[],
  run: string,
  record: RunRecord | undefined,
): void {
  const names = (record?.entries ?? []).map(
    (entry: Entry) => `${operationOf(entry)} ${nameOf(entry)}`,
  );
  if (new Set(names).size < names.length)
    throw new Violation(`an entry twice: ${names.join(", ")}`);
  if (record?.head.keyFree !== true) return;
  const mine = world.log.filter((one) => "run" in one && one.run === run);
  const undone = new Set(mine.flatMap((one) => (one.is === "undone" ? [one.step] : [])));
  const stands = (one: Happening): boolean => "step" in one && !undone.has(one.step);
  const policies = policiesOf(programs);
  const count = (is: (one: Happening) => boolean): number =>
    mine.filter((one) => stands(one) && is(one)).length;
  const asks = (one: Happening): boolean => "step" in one && policies.get(one.step) === "lookup";
  const refused = count((one) => one.is === "threw" && one.how === "refused" && !asks(one));
  const entered = count((one) => one.is === "entered" && !asks(one));
  // Of a step that looks its key up, the remote can say that nothing came of what was entered.
  const late = callsAfterTakeover(world, run);
  const done = count((one) => one.is === "done" && asks(one) && !late.has(one));
  if (entered > refused || done > 0) {
    throw new Violation("the key is free although a step may have happened");
  }
}

/** Effects of processes that stood still or died in the middle of a call, until others had the run: nobody can prevent those. */
function callsAfterTakeover(world: World, run: string): ReadonlySet<Happening> {
  const away = new Set<string>();
  const late = new Set<Happening>();
  let owner: string | undefined;
  for (const one of world.log) {
    if (one.is === "paused" || one.is === "crashed") away.add(one.instance);
    else if (one.is === "claimed" && one.run === run) owner = one.instance;
    else if (one.is === "done" && one.run === run && one.instance !== owner)
      if (away.has(one.instance)) late.add(one);
  }
  return late;
}

/** @throws Violation for rule 13 */
export function judgeUndone(world: World, programs: readonly Program[], record: RunRecord): void {
  if (record.head.status !== "undone") return;
  const { runId } = record.origin;
  const undoable = new Set(
    stepsOf(programs).flatMap(({ id, undoThrows }) => (undoThrows === undefined ? [] : [id])),
  );
  const left = new Set<string>();
  for (const one of world.log) {
    if (!("run" in one) || one.run !== runId) continue;
    if (one.is === "done" && undoable.has(one.step)) left.add(one.step);
    else if (one.is === "undone") left.delete(one.step);
  }
  // A process that stands still may yet end the one call that it is in.
  const isPaused = world.log.some(({ is }) => is === "paused");
  if (left.size > 0 && !isPaused) {
    throw new Violation(`run ${runId} is undone, and what stands is ${[...left].join(", ")}`);
  }
}

/** @throws Violation for rule 7 */
function judgeEpochs(world: World): void {
  const newest = new Map<string, number>();
  for (const one of world.log) {
    if (one.is === "claimed") {
      newest.set(one.run, Math.max(one.epoch, newest.get(one.run) ?? 0));
    } else if (one.is === "recorded" && one.epoch < (newest.get(one.run) ?? 0)) {
      throw new Violation(
        `attempt ${one.epoch} of ${one.run} recorded after attempt ${newest.get(one.run)} was given out`,
      );
    }
  }
}

/** @throws Violation for rules 8 and 9 */
function judgeEffects(world: World, programs: readonly Program[], keyed: boolean): void {
  const doubts = doubtsOf(programs);
  const first = new Map<string, number>();
  const all = new Map<string, number>();
  /** A step that was renamed while it was in doubt has a key, and doubts, under each name. */
  const keys = new Map<string, Set<string>>();
  const troubles = world.log.filter(({ is }) => troubleKinds.has(is)).length;
  const count = (of: Map<string, number>, what: string): number => {
    const next = (of.get(what) ?? 0) + 1;
    of.set(what, next);
    return next;
  };
  const late = new LateCalls();
  for (const one of world.log) {
    const isLate = late.see(one);
    if (one.is === "undone" && !one.repeated) first.delete(one.step);
    if (one.is !== "done") continue;
    const isOneOrder = keyed && programs.length === 1 && !isLate;
    if (isOneOrder && !one.repeated && count(first, one.step) > 1) {
      throw new Violation(`step ${one.step} of one key happened twice to a remote that knows keys`);
    }
    const step = `${one.run} ${one.step}`;
    const times = count(all, step);
    const own = keys.get(step) ?? new Set();
    keys.set(step, own.add(one.key));
    if (times > 1 + troubles + own.size * (doubts.get(one.step) ?? 0)) {
      throw new Violation(
        `step ${one.step} happened ${times} times, and ${troubles} things went wrong`,
      );
    }
  }
}

/** Calls of processes that stood still in the middle of them, and arrived when their step had been undone: nobody can prevent those. */
class LateCalls {
  readonly #undone = new Set<string>();
  readonly #paused = new Set<string>();

  /** Whether this is one. */
  see(one: Happening): boolean {
    if (one.is === "paused") this.#paused.add(one.instance);
    if (one.is === "undone") this.#undone.add(`${one.run} ${one.step}`);
    if (one.is !== "done") return false;
    return this.#paused.has(one.instance) && this.#undone.has(`${one.run} ${one.step}`);
  }
}

const troubleKinds: ReadonlySet<Happening["is"]> = new Set([
  "crashed",
  "paused",
  "storeFailed",
  "gone",
] as const);

/** How often each step throws after it has happened. */
function doubtsOf(programs: readonly Program[]): ReadonlyMap<string, number> {
  const doubts = new Map<string, number>();
  for (const { id, plan } of stepsOf(programs)) {
    doubts.set(id, plan.does === "works" ? plan.throwsAfter : 0);
  }
  return doubts;
}

/** How far a process's clock may be off where questions must be answered soon. */
export const MOST_SECONDS_OFF_MS: number = 5_000;

/** @throws Violation for rule 14 */
function judgeLateAnswers(world: World): void {
  for (const one of world.log) {
    if (one.is !== "tookLate") continue;
    // A process that judged the state in time may have been paused before it claimed the round.
    if (one.undoes || one.lateMs > MOST_SECONDS_OFF_MS + one.stoodStillMs) {
      throw new Violation(`an answer of ${one.run} was taken ${one.lateMs} ms behind its deadline`);
    }
  }
}

/** @param now of the store. @throws Violation for rules 10 and 14 */
export function judgeAtRest(snapshot: MemorySnapshot, now: number): void {
  for (const { origin, head } of snapshot.runs) {
    if (head.status === "running")
      throw new Violation(`run ${origin.runId} is stuck in ${told(head)}`);
    const undoes = head.undoable !== undefined && head.undoable.length > 0;
    if (head.status === "waiting" && undoes && head.stateExpiresAt + SWEPT_WITHIN_MS < now)
      throw new Violation(`the deadline of run ${origin.runId} has passed, and nothing is undone`);
  }
}

/** Two leases: a sweep comes once a lease. */
const SWEPT_WITHIN_MS = 20_000;

/** @throws Violation for rule 11 */
export function judgeExpired(snapshot: MemorySnapshot): void {
  for (const { origin, head } of snapshot.runs)
    throw new Violation(`run ${origin.runId} never expires: ${told(head)}`);
  for (const [scope, { runId }] of Object.entries(snapshot.keys))
    throw new Violation(`key ${scope} of run ${runId} never expires`);
}

function told(head: RunRecord["head"]): string {
  return `round ${head.round}, attempt ${head.epoch}, ${head.status}`;
}

function learn(
  known: Known,
  one: Extract<Happening, { is: "claimed" | "recorded" }>,
  ids: ReadonlyMap<string, string>,
): void {
  const completed = (entries: readonly string[]): string[] =>
    entries.filter((entry) => entry.startsWith("step_completed "));
  if (one.is === "recorded") {
    // A write that was sent again is acknowledged twice.
    known.entries = [
      ...known.entries,
      ...one.entries.filter((entry) => !known.entries.includes(entry)),
    ];
  } else {
    const undone = known.entries.filter((entry) => entry.startsWith("step_undone "));
    const lost = [...completed(known.entries), ...undone].filter(
      (entry) => !one.entries.includes(entry),
    );
    if (lost.length > 0)
      throw new Violation(`recorded, and not there any more: ${lost.join(", ")}`);
    if (known.entries.some((entry, index) => one.entries[index] !== entry)) known.life += 1;
    known.entries = one.entries;
  }
  for (const entry of completed(known.entries)) {
    const name = entry.slice("step_completed ".length);
    known.completed.add(ids.get(name) ?? name);
  }
}

/** Remembers the first value of each subject. */
class Once {
  readonly #what: string;
  readonly #first = new Map<string, string>();

  constructor(what: string) {
    this.#what = what;
  }

  same(subject: string, value: string): void {
    const first = this.#first.get(subject);
    if (first === undefined) this.#first.set(subject, value);
    else if (first !== value) throw new Violation(`${this.#what}: ${subject}: ${first} / ${value}`);
  }
}

function idsByName(programs: readonly Program[]): ReadonlyMap<string, string> {
  const steps = stepsOf(programs);
  return new Map(steps.map(({ name, id }) => [name, id]));
}

function policiesOf(programs: readonly Program[]): ReadonlyMap<string, string> {
  return new Map(stepsOf(programs).map(({ id, policy }) => [id, policy]));
}

function stepsOf(programs: readonly Program[]): readonly StepNode[] {
  return programs
    .flatMap(({ body }) => nodesOf(body))
    .flatMap((node) => (node.op === "added" ? [node, ...nodesOf(node.node)] : [node]))
    .flatMap((node) => (node.op === "step" ? [node] : []));
}
