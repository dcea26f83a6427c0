/**
 * What operators do. Every route here is a POST that the gate let through as an operator's (G2, G3), and is audited.
 */
import { RepriseError } from "@reprise/errors";
import type { HistoryQuery, OperatorOutcome, RunSummary } from "@reprise/runtime";
import type { FastifyInstance } from "fastify";
import type { Gate } from "../auth/gate.ts";
import type { OpsConfig } from "../options.ts";
import type { ActionResult, ManyResult, Revealed, RunAction } from "../wire.ts";
import { type Actions, actionNotes } from "./actions.ts";
import { fieldsOf, filterIn, neededText, numberIn, refuse, runIdIn, textIn } from "./input.ts";
import { there } from "./readRoutes.ts";
import { revealedOf } from "./runView.ts";

/** What the routes work with. */
export interface ActParts {
  readonly config: OpsConfig;
  readonly gate: Gate;
  readonly actions: Actions;
}

/** Runs that one request cancels: the page asks again with `next`. */
const CANCELLED_AT_ONCE = 25;
const MOST_WORDS = 2000;
const MOST_REASON = 200;

/** Serves them below `/api`. */
export function serveActs(app: FastifyInstance, parts: ActParts): void {
  serveRunActs(app, parts);
  serveQueueActs(app, parts);
  serveKeyActs(app, parts);
}

function serveRunActs(app: FastifyInstance, { config, gate, actions }: ActParts): void {
  const { operator, history } = config;
  type Perform = (
    runId: string,
    body: Readonly<Record<string, unknown>>,
  ) => Promise<OperatorOutcome>;
  const performs: Readonly<Record<RunAction, Perform>> = {
    cancel: (runId, body) => operator.cancel(runId, textIn(body, "reason", MOST_REASON)),
    retry: (runId) => operator.retry(runId),
    release: (runId) => operator.release(runId),
    finish(runId, body) {
      const as = body["as"];
      if (as !== "completed" && as !== "failed") return refuse("as must be completed or failed.");
      return operator.finish(runId, { as, text: neededText(body, "text", MOST_WORDS) });
    },
  };
  for (const action of Object.keys(performs) as RunAction[]) {
    app.post(`/runs/:id/${action}`, async (request): Promise<ActionResult> => {
      const runId = runIdIn(request.params);
      const body = fieldsOf(request.body);
      const { actor } = gate.sessionOf(request);
      return await actions.onRun(
        actor,
        action,
        runId,
        async () => await performs[action](runId, body),
      );
    });
  }

  app.post("/runs/:id/reveal", async (request): Promise<Revealed> => {
    const runId = runIdIn(request.params);
    const { part } = fieldsOf(request.body);
    if (part !== "question" && part !== "all") refuse("part must be question or all.");
    const record = await operator.show(runId);
    if (record === undefined)
      throw new RepriseError("OPS_UNKNOWN", "The run has no record any more.");
    await actions.auditReveal(gate.sessionOf(request).actor, runId, part);
    return revealedOf(record, part);
  });

  app.post("/cancel-many", async (request): Promise<ManyResult> => {
    const { filter, reason, cursor } = fieldsOf(request.body);
    const query: HistoryQuery = {
      ...filterIn(fieldsOf(filter)),
      limit: CANCELLED_AT_ONCE,
      cursor: textIn({ cursor }, "cursor"),
    };
    const words = textIn({ reason }, "reason", MOST_REASON);
    const { status } = query;
    // Without a status everything that ever ran would match, and most of it has ended.
    if (
      status === undefined ||
      !(status === "attention" || actionNotes.cancel.on.includes(status))
    ) {
      refuse(`filter.status must be attention or one of ${actionNotes.cancel.on.join(", ")}.`);
    }
    const { runs, next } = await history.list(query);
    const { actor } = gate.sessionOf(request);
    const cancelOne = async ({ runId }: RunSummary): Promise<boolean> => {
      const { outcome } = await actions.onRun(actor, "cancel", runId, () =>
        operator.cancel(runId, words),
      );
      return outcome === "done";
    };
    let done = 0;
    // One after the other: an action of one person must not crowd out the calls of everybody.
    for (const run of runs) if (await cancelOne(run)) done += 1;
    return { done, notApplicable: runs.length - done, next };
  });
}

function serveQueueActs(app: FastifyInstance, { config, gate, actions }: ActParts): void {
  const { queues, workers, history } = config;
  const act = async (
    request: Parameters<Gate["sessionOf"]>[0],
    action: "pause" | "resume" | "resize",
    perform: (queue: string) => Promise<void>,
    said: string,
  ): Promise<ActionResult> => {
    const queue = String(fieldsOf(request.params)["queue"]);
    if (!there(queues).queues.includes(queue))
      throw new RepriseError("OPS_UNKNOWN", "There is no such queue.");
    const { actor } = gate.sessionOf(request);
    const { unaudited } = await actions.audited(
      actor,
      action,
      queue,
      () => perform(queue),
      () => said,
    );
    return { outcome: "done", ...(unaudited ? { unaudited } : {}) };
  };
  app.post("/queues/:queue/pause", (request) =>
    act(request, "pause", (name) => there(queues).pause(name), "paused"),
  );
  app.post("/queues/:queue/resume", (request) =>
    act(request, "resume", (name) => there(queues).resume(name), "resumed"),
  );
  app.post("/queues/:queue/resize", (request) => {
    const limit = numberIn(fieldsOf(request.body), "limit", 1, 100_000);
    const said = limit === undefined ? "no limit" : `at most ${limit}`;
    return act(request, "resize", (name) => there(queues).resize(name, limit), said);
  });

  app.post("/instances/:instance/drain", async (request): Promise<ActionResult> => {
    const desk = there(workers);
    const id = String(fieldsOf(request.params)["instance"]);
    const found = (await history.instances()).find(({ instance }) => instance === id);
    if (found === undefined) throw new RepriseError("OPS_UNKNOWN", "There is no such instance.");
    if (found.role !== "worker") {
      return {
        outcome: "not_applicable",
        why: "Only workers are drained; a front is stopped where it runs.",
      };
    }
    const { actor } = gate.sessionOf(request);
    const { unaudited } = await actions.audited(
      actor,
      "drain",
      id,
      () => desk.drain(id),
      () => "asked",
    );
    return { outcome: "done", ...(unaudited ? { unaudited } : {}) };
  });
}

function serveKeyActs(app: FastifyInstance, { config, gate, actions }: ActParts): void {
  const { keys } = config;
  app.post("/keys/rotate", async (request): Promise<ActionResult> => {
    const desk = there(keys);
    const { actor } = gate.sessionOf(request);
    const { unaudited } = await actions.audited(
      actor,
      "rotate_keys",
      "ring",
      () => desk.rotate(),
      () => "asked every instance",
    );
    return { outcome: "done", ...(unaudited ? { unaudited } : {}) };
  });

  app.post("/keys/:kid/revoke", async (request): Promise<ActionResult> => {
    const desk = there(keys);
    const kid = String(fieldsOf(request.params)["kid"]);
    // A key that the ring does not have is a typing error more often than not: the command has a flag for it.
    if (!(await desk.list()).some((key) => key.kid === kid)) {
      throw new RepriseError("OPS_UNKNOWN", "The ring has no such key.");
    }
    const { actor } = gate.sessionOf(request);
    const { unaudited } = await actions.audited(
      actor,
      "revoke_key",
      kid,
      () => desk.revoke(kid),
      () => "revoked",
    );
    return { outcome: "done", ...(unaudited ? { unaudited } : {}) };
  });
}
