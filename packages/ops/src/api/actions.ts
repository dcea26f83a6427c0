/**
 * What operators do: each action with the words beside its button, its performance and its line in the audit log.
 *
 * 1. The words say what a client that comes again gets; a test does each action with the real store and compares.
 * 2. An action is audited with what came of it, also when it failed. One that was done and can't be audited is told so,
 *    and is in the process's log in any case: undoing it is not possible, and hiding it would be worse.
 * 3. A reveal is audited before anything is shown, and shows nothing when it can't be.
 */
import { RepriseError } from "@reprise/errors";
import type { OperatorOutcome } from "@reprise/runtime";
import type { OpsConfig } from "../options.ts";
import type { ActionName, ActionNote, ActionResult, RunAction } from "../wire.ts";

/** The words, by action. */
export const actionNotes: Readonly<Record<ActionName, ActionNote>> = {
  cancel: {
    label: "Cancel",
    does: "Ends the run for good. A running step is told to stop; steps with an undo are undone.",
    clients:
      "A client that comes again gets RUN_CANCELLED, and answers to its question are not taken.",
    on: ["waiting", "running", "interrupted", "mismatched", "parked"],
  },
  retry: {
    label: "Retry from the failed step",
    does: "A new attempt of the last round. Completed steps are not repeated; what the failed step comes to now replaces what is recorded. A step that may or may not have happened is judged by its onUncertain: by default it is called again with the same idempotency key.",
    clients:
      "A client that comes again joins the new attempt, or gets its outcome instead of the old one.",
    on: ["failed", "interrupted", "completed"],
  },
  finish: {
    label: "Finish by hand",
    does: "Ends the run with your words as its outcome. Nothing is executed and nothing is undone. A run whose tool has an output schema can only be finished as failed: words can't fit it.",
    clients:
      "A client that comes again gets your words as the result or the error; the idempotency key stays taken.",
    on: ["interrupted", "mismatched", "parked", "waiting"],
  },
  release: {
    label: "Release",
    does: "Forgets the deaths of its attempts and lets the run go on with whoever comes next. A step that may or may not have happened is judged by its onUncertain: by default it is called again with the same idempotency key.",
    clients:
      "A client that comes again goes on with the run instead of getting RUN_PARKED or JOURNAL_MISMATCH.",
    on: ["parked", "mismatched"],
  },
  pause: {
    label: "Pause",
    does: "Workers take no more jobs of this queue. What they execute now ends.",
    clients:
      "New calls wait in the queue. A client that waits too long gets IN_FLIGHT and joins the same run when it comes again; nothing is lost.",
    on: [],
  },
  resume: {
    label: "Resume",
    does: "Workers take jobs of this queue again.",
    clients: "Calls that waited are executed, each once.",
    on: [],
  },
  resize: {
    label: "Resize",
    does: "The most jobs of this queue that all workers together execute at a time. Without a number their own settings hold.",
    clients: "Clients wait longer or shorter; nothing else changes for them.",
    on: [],
  },
  drain: {
    label: "Drain",
    does: "The worker takes no more jobs, lets running attempts end or hands them over at the next step, and ends.",
    clients: "Clients notice nothing but a pause: another worker goes on with their runs.",
    on: [],
  },
  rotate: {
    label: "Rotate",
    does: "Every instance makes a new key within seconds and seals with it. The old keys still open what they sealed.",
    clients: "Clients notice nothing: questions that are open can still be answered.",
    on: [],
  },
  revoke: {
    label: "Revoke",
    does: "Takes the key away for ever, on every instance within 10 seconds.",
    clients:
      "A client whose question or session was sealed with it can't go on: its answer is refused as an invalid requestState, and it has to call anew with the same idempotency key.",
    on: [],
  },
};

/** Does actions for one dashboard. */
export class Actions {
  readonly #config: OpsConfig;
  /** What was read before an action is old. */
  readonly #acted: () => void;

  constructor(config: OpsConfig, acted: () => void) {
    this.#config = config;
    this.#acted = acted;
  }

  /** An action on a run. */
  async onRun(
    actor: string,
    action: RunAction,
    runId: string,
    perform: () => Promise<OperatorOutcome>,
  ): Promise<ActionResult> {
    const { outcome, unaudited } = await this.audited(actor, action, runId, perform, (reply) =>
      reply.kind === "unknown" ? "unknown run" : `${reply.kind}: ${reply.status}`,
    );
    const flag = unaudited ? { unaudited: true as const } : {};
    if (outcome.kind === "unknown") return { outcome: "unknown", ...flag };
    const { status } = outcome;
    if (outcome.kind === "done") return { outcome: "done", status, ...flag };
    return { outcome: "not_applicable", status, why: outcome.why, ...flag };
  }

  /** Any action: performs, then audits (2). */
  async audited<T>(
    actor: string,
    action: string,
    target: string,
    perform: () => Promise<T>,
    said: (outcome: T) => string,
  ): Promise<{ readonly outcome: T; readonly unaudited: boolean }> {
    let outcome: T;
    try {
      outcome = await perform();
    } catch (error) {
      const code = error instanceof RepriseError ? error.code : "failed";
      await this.#audit(actor, action, target, `failed: ${code}`);
      throw error;
    } finally {
      this.#acted();
    }
    const isAudited = await this.#audit(actor, action, target, said(outcome));
    return { outcome, unaudited: !isAudited };
  }

  /** Writes that somebody is going to see values (3). @throws what the history throws */
  async auditReveal(actor: string, runId: string, part: string): Promise<void> {
    const { history, clock, logger } = this.#config;
    logger.info({ actor, run: runId, part }, "values of a run are revealed");
    await history.audit({
      at: clock.now(),
      actor,
      action: "reveal",
      target: runId,
      outcome: part === "all" ? "all values" : "the open question",
    });
    this.#acted();
  }

  async #audit(actor: string, action: string, target: string, outcome: string): Promise<boolean> {
    const { history, clock, logger } = this.#config;
    logger.info({ actor, action, target, outcome }, "an operator acted");
    try {
      await history.audit({ at: clock.now(), actor, action, target, outcome });
      return true;
    } catch (error) {
      logger.error(
        { err: error, actor, action, target, outcome },
        "an action could not be audited",
      );
      return false;
    }
  }
}
