/**
 * A dashboard over a history in memory and an operator that does what it is told, for tests of what lies between.
 *
 * The real operator over real stores is in test/e2e/ops; here its outcomes are chosen, so that each of them is met.
 */

import {
  createLinkSignIn,
  type LinkSignIn,
  type OpsOptions,
  opsPlugin,
  type SignIn,
} from "@reprise/ops";
import type { RunEvent, RunOperator, RunRecord } from "@reprise/runtime";
import { createManualClock, createMemoryHistory, type ManualClock } from "@reprise/testing";
import fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { onTestFinished } from "vitest";

/** A secret that is in every value of the records below: it must be nowhere but in what was revealed. */
export const secret = "s3cret-of-a-caller";

/** Who sends requests, as the session says. */
export interface Visitor {
  readonly cookie: string;
  readonly csrf: string;
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<LightMyRequestResponse>;
  post(
    url: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<LightMyRequestResponse>;
}

/** A dashboard that answers. */
export interface Dashboard {
  readonly app: FastifyInstance;
  readonly clock: ManualClock;
  readonly history: OpsOptions["history"];
  readonly records: Map<string, RunRecord>;
  /** What the operator was told, in order. */
  readonly told: readonly string[];
  readonly printed: readonly string[];
  /** Signs in as an operator by a link, or as whoever `as` names. */
  signIn(): Promise<Visitor>;
  viewer(): Promise<Visitor>;
}

/** Opens one. */
export async function openDashboard(given: Partial<OpsOptions> = {}): Promise<Dashboard> {
  const clock = createManualClock(1_800_000_000_000);
  const history = given.history ?? createMemoryHistory(() => clock.now());
  const records = new Map<string, RunRecord>();
  const told: string[] = [];
  const printed: string[] = [];
  const links = createLinkSignIn({ print: (link) => printed.push(link) });
  const both = new ChosenRole(links);
  const app = fastify();
  app.register(
    opsPlugin({
      history,
      operator: tellingOperator(records, told),
      signIn: both,
      health: async () => ({ ok: true }),
      server: "shop",
      clock: { now: clock.now, monotonic: clock.now, after: clock.setTimer },
      ...given,
    }),
  );
  await app.ready();
  onTestFinished(() => app.close());
  const enter = async (): Promise<Visitor> => {
    const reply = await app.inject({ url: `/ops/${links.newLink()}` });
    return await visitorOf(app, cookieOf(reply));
  };
  return {
    app,
    clock,
    history,
    records,
    told,
    printed,
    async signIn() {
      both.role = "operator";
      return await enter();
    },
    async viewer() {
      both.role = "viewer";
      return await enter();
    },
  };
}

/** Links that let people in with the role that a test chose. */
class ChosenRole implements SignIn {
  role: "viewer" | "operator" = "operator";
  readonly #links: LinkSignIn;
  readonly invitation: string;
  readonly button: string;
  readonly loopbackOnly = true;
  readonly secure = false;

  constructor(links: LinkSignIn) {
    this.#links = links;
    this.invitation = links.invitation;
    this.button = links.button;
  }

  start(...given: Parameters<SignIn["start"]>): void {
    this.#links.start(...given);
  }

  begin(...given: Parameters<SignIn["begin"]>): ReturnType<SignIn["begin"]> {
    return this.#links.begin(...given);
  }

  async enter(...given: Parameters<SignIn["enter"]>): ReturnType<SignIn["enter"]> {
    const entrance = await this.#links.enter(...given);
    if (!entrance.ok) return entrance;
    return { ...entrance, person: { actor: `a ${this.role}`, role: this.role } };
  }
}

/** The session's cookie of a reply, as a browser sends it back. */
export function cookieOf(reply: LightMyRequestResponse): string {
  return reply.cookies
    .filter(({ value }) => value !== "")
    .map(({ name, value }) => `${name}=${value}`)
    .join("; ");
}

/** Requests of somebody who has that cookie. */
export async function visitorOf(app: FastifyInstance, cookie: string): Promise<Visitor> {
  const me = await app.inject({ url: "/ops/api/me", headers: { cookie } });
  const { csrf } = me.json<{ csrf: string }>();
  return {
    cookie,
    csrf,
    get: (url, headers = {}) =>
      app.inject({ url: `/ops/api/${url}`, headers: { cookie, ...headers } }),
    post: (url, body = {}, headers = {}) =>
      app.inject({
        method: "POST",
        url: `/ops/api/${url}`,
        headers: { cookie, "x-reprise-csrf": csrf, "content-type": "application/json", ...headers },
        payload: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

/** Does nothing but what tests want to see: every action is told, and applies where the status fits. */
function tellingOperator(records: Map<string, RunRecord>, told: string[]): RunOperator {
  const act = async (
    words: string,
    runId: string,
    status: RunRecord["head"]["status"],
  ): ReturnType<RunOperator["cancel"]> => {
    told.push(words);
    const record = records.get(runId);
    if (record === undefined) return { kind: "unknown" };
    const before = record.head.status;
    if (before === "completed")
      return { kind: "not_applicable", status: before, why: "it has ended" };
    records.set(runId, { ...record, head: { ...record.head, status } });
    return { kind: "done", status };
  };
  return {
    show: async (runId) => records.get(runId),
    findByKey: async (tool, key, principal) =>
      tool === "refund" && key === "order-7" && principal === undefined ? "r-1" : undefined,
    cancel: (runId, reason) => act(`cancel ${runId} ${reason ?? ""}`.trim(), runId, "cancelled"),
    retry: (runId) => act(`retry ${runId}`, runId, "running"),
    finish: (runId, { as, text }) => act(`finish ${runId} ${as} ${text}`, runId, as),
    release: (runId) => act(`release ${runId}`, runId, "interrupted"),
  };
}

/** A record that is full of values. */
export function recordOf(
  runId: string,
  status: RunRecord["head"]["status"] = "waiting",
): RunRecord {
  const value = JSON.stringify({ card: secret });
  return {
    origin: {
      format: 1,
      runId,
      method: "tools/call",
      handler: { kind: "tool", name: "refund" },
      target: "refund",
      params: { name: "refund", arguments: { note: secret } },
      caller: { principal: "ann", person: "ann", scopes: [], claims: { email: secret } },
      client: {
        info: { name: "desk", version: "1" },
        capabilities: {},
        protocolVersion: "2026-07-28",
      },
      seed: secret,
      key: { scope: "sc", generation: 0, argsDigest: secret },
      startedAt: 1_799_999_000_000,
    },
    head: {
      status,
      round: 1,
      epoch: 2,
      token: secret,
      lease: undefined,
      waiters: [],
      stoppable: true,
      stopping: false,
      takeovers: 0,
      stepStarted: true,
      stepCompleted: true,
      openStepPossible: false,
      openStepSince: undefined,
      claimedAt: 1_799_999_000_000,
      marks: { "send mail": { firstTriedAt: 1_799_999_000_000 } },
      pending: [
        {
          key: "confirm",
          question: "d",
          asked: "d",
          wire: { method: "elicitation/create", params: { message: secret } },
          text: `Refund ${secret}?`,
          changes: 0,
          unfinished: 0,
        },
      ],
      brought: { confirm: { value: secret, digest: "d" } },
      settled: {},
      state: { cart: secret },
      drafts: {},
      response: { kind: "error", code: "STEP_UNCERTAIN", message: secret, data: { secret } },
      entryCount: 4,
      sequence: 4,
      version: "1.2.3",
      askedVersion: "1.2.3",
      entriesVersion: "1.2.3",
      mismatchedAt: undefined,
      keyFree: false,
      stateGivenOut: true,
      stateExpiresAt: 1_800_000_600_000,
      updatedAt: 1_799_999_500_000,
      expiresAt: 1_800_090_000_000,
    },
    entries: [
      { kind: "read_completed", name: "load order", value, at: 1_799_999_100_000 },
      { kind: "step_completed", name: "charge", value, at: 1_799_999_200_000 },
      {
        kind: "answer_taken",
        key: "confirm",
        question: "d",
        answer: secret,
        at: 1_799_999_300_000,
      },
      {
        kind: "step_failed",
        name: "send mail",
        error: { name: "Error", message: secret },
        outcome: "uncertain",
        at: 1_799_999_400_000,
      },
    ],
  };
}

/** What every event of a run says. */
const facts = {
  method: "tools/call",
  handler: { kind: "tool", name: "refund" },
  effects: "once",
  principal: "ann",
  client: "desk",
  protocolVersion: "2026-07-28",
  round: 0,
  epoch: 1,
  version: "1.2.3",
  instance: "worker-1",
} as const;

/** A run that waits for an answer to its confirm. */
export function waitingEvents(
  runId: string,
  at: number,
  given: Partial<RunEvent> = {},
): readonly RunEvent[] {
  const own = { ...facts, ...given, runId };
  return [
    { ...own, type: "attempt_started", cause: "call", at },
    { ...own, type: "step_started", step: "charge", try: 1, undo: false, at: at + 1 },
    {
      ...own,
      type: "step_ended",
      step: "charge",
      outcome: "completed",
      tries: 1,
      durationMs: 40,
      undo: false,
      at: at + 41,
    },
    {
      ...own,
      type: "asked",
      asks: [{ key: "confirm", kind: "confirm" }],
      until: at + 600_000,
      at: at + 50,
    },
    {
      ...own,
      type: "attempt_ended",
      outcome: "suspended",
      durationMs: 50,
      status: "waiting",
      at: at + 50,
    },
  ] as readonly RunEvent[];
}

/** A run that ended. */
export function endedEvents(
  runId: string,
  at: number,
  outcome: "completed" | "failed" | "interrupted" | "parked",
  given: Partial<RunEvent> = {},
): readonly RunEvent[] {
  const own = { ...facts, ...given, runId };
  const code = outcome === "failed" ? { code: "STEP_FAILED" } : {};
  return [
    { ...own, type: "attempt_started", cause: "call", at },
    {
      ...own,
      type: "attempt_ended",
      outcome,
      durationMs: 30,
      status: outcome,
      at: at + 30,
      ...code,
    },
  ] as readonly RunEvent[];
}
