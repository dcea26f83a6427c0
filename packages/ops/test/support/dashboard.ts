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
import type { RunOperator, RunRecord } from "@reprise/runtime";
import { createManualClock, createMemoryHistory, type ManualClock } from "@reprise/testing";
import fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { onTestFinished } from "vitest";

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
  /** Signs in as an operator, or as a viewer. */
  signIn(): Promise<Visitor>;
  viewer(): Promise<Visitor>;
  /** A link for a browser, below `/ops/`. */
  linkFor(role: "viewer" | "operator", actor?: string): string;
  /** Listens on a free port; its origin. */
  listen(): Promise<string>;
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
  const app = fastify({ pluginTimeout: 120_000 });
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
  const linkFor = (role: "viewer" | "operator", actor = `a ${role}`): string => {
    both.role = role;
    both.actor = actor;
    return links.newLink();
  };
  const enter = async (role: "viewer" | "operator"): Promise<Visitor> => {
    const reply = await app.inject({ url: `/ops/${linkFor(role)}` });
    return await visitorOf(app, cookieOf(reply));
  };
  return {
    app,
    clock,
    history,
    records,
    told,
    printed,
    signIn: () => enter("operator"),
    viewer: () => enter("viewer"),
    linkFor,
    listen: () => app.listen({ host: "127.0.0.1", port: 0 }),
  };
}

/** Links that let people in with the role that a test chose. */
class ChosenRole implements SignIn {
  role: "viewer" | "operator" = "operator";
  actor = "an operator";
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
    return { ...entrance, person: { actor: this.actor, role: this.role } };
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
