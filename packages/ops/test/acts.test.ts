/**
 * What operators do, what of it is in the audit log, and what happens when that can't be written.
 */
import { RepriseError } from "@reprise/errors";
import type { QueueDesk } from "@reprise/ops";
import { createMemoryHistory } from "@reprise/testing";
import { describe, expect, test } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { recordOf, secret, waitingEvents } from "./support/runs.ts";

const start = 1_800_000_000_000;

describe("an action on a run", () => {
  test("is told to the operator port as it was meant, and audited with what came of it", async () => {
    const { records, history, told, signIn } = await openDashboard();
    records.set("r-1", recordOf("r-1", "parked"));
    const visitor = await signIn();
    const done = await visitor.post("runs/r-1/release");
    expect(done.json()).toEqual({ outcome: "done", status: "interrupted" });
    await visitor.post("runs/r-1/retry");
    await visitor.post("runs/r-1/finish", { as: "failed", text: "Refunded by hand." });
    await visitor.post("runs/none/cancel", { reason: "a mistake" });
    expect(told).toEqual([
      "release r-1",
      "retry r-1",
      "finish r-1 failed Refunded by hand.",
      "cancel none a mistake",
    ]);
    const lines = (await history.audits(10)).map(({ actor, action, target, outcome }) => [
      actor,
      action,
      target,
      outcome,
    ]);
    expect(lines).toEqual([
      ["a operator", "cancel", "none", "unknown run"],
      ["a operator", "finish", "r-1", "done: failed"],
      ["a operator", "retry", "r-1", "done: running"],
      ["a operator", "release", "r-1", "done: interrupted"],
    ]);
  });

  test("that does not apply says why and is audited as such", async () => {
    const { records, history, signIn } = await openDashboard();
    records.set("r-1", recordOf("r-1", "completed"));
    const visitor = await signIn();
    const reply = await visitor.post("runs/r-1/cancel");
    expect(reply.json()).toEqual({
      outcome: "not_applicable",
      status: "completed",
      why: "it has ended",
    });
    expect(await history.audits(1)).toMatchObject([{ outcome: "not_applicable: completed" }]);
  });

  test.each([
    ["finish", {}],
    ["finish", { as: "done", text: "x" }],
    ["finish", { as: "completed", text: "" }],
    ["finish", { as: "completed", text: "x".repeat(2001) }],
    ["cancel", { reason: "x".repeat(201) }],
    ["cancel", { reason: 7 }],
    ["cancel", []],
    ["cancel", '"text"'],
    ["cancel", "{no json"],
    ["reveal", { part: "everything" }],
  ])("with a body that can't be meant is not begun: %s %#", async (action, body) => {
    const { records, told, signIn } = await openDashboard();
    records.set("r-1", recordOf("r-1"));
    const visitor = await signIn();
    const reply = await visitor.post(`runs/r-1/${action}`, body);
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ error: { code: "OPS_REQUEST_INVALID" } });
    expect(told).toEqual([]);
  });

  test("with a body of megabytes is refused before it is read", async () => {
    const { signIn } = await openDashboard();
    const visitor = await signIn();
    const reply = await visitor.post("runs/r-1/cancel", { reason: "x".repeat(100_000) });
    expect(reply.statusCode).toBe(413);
  });

  test("that was done and could not be audited says so; one whose store is away is a 503", async () => {
    const history = createMemoryHistory(() => start);
    const audit = async (): Promise<never> => {
      throw new RepriseError("STORE_UNAVAILABLE", "away");
    };
    const { records, signIn } = await openDashboard({ history: { ...history, audit } });
    records.set("r-1", recordOf("r-1"));
    const visitor = await signIn();
    expect((await visitor.post("runs/r-1/cancel")).json()).toEqual({
      outcome: "done",
      status: "cancelled",
      unaudited: true,
    });
  });
});

describe("a reveal", () => {
  test("shows all values, and is in the audit log", async () => {
    const { records, history, signIn } = await openDashboard();
    records.set("r-1", recordOf("r-1"));
    const visitor = await signIn();
    const reply = await visitor.post("runs/r-1/reveal", { part: "all" });
    const { values } = reply.json<{ values: { label: string; text: string }[] }>();
    expect(values.map(({ label }) => label)).toEqual([
      "Request",
      "Question confirm",
      "Question confirm, as it was sent",
      "Answer to confirm, not yet taken",
      "1. read_completed load order",
      "2. step_completed charge",
      "3. answer_taken confirm",
      "4. step_failed send mail",
      "State cart",
      "Response",
    ]);
    for (const { label, text } of values) expect(text, label).toContain(secret);
    expect(await history.audits(1)).toMatchObject([
      { action: "reveal", target: "r-1", outcome: "all values", actor: "a operator" },
    ]);
  });

  test("of the question shows nothing else", async () => {
    const { records, signIn } = await openDashboard();
    records.set("r-1", recordOf("r-1"));
    const visitor = await signIn();
    const reply = await visitor.post("runs/r-1/reveal", { part: "question" });
    expect(reply.json().values).toHaveLength(2);
  });

  test("shows nothing when it can't be audited", async () => {
    const history = createMemoryHistory(() => start);
    const audit = async (): Promise<never> => {
      throw new RepriseError("STORE_UNAVAILABLE", "away");
    };
    const { records, signIn } = await openDashboard({ history: { ...history, audit } });
    records.set("r-1", recordOf("r-1"));
    const reply = await (await signIn()).post("runs/r-1/reveal", { part: "all" });
    expect(reply.statusCode).toBe(503);
    expect(reply.body).not.toContain(secret);
  });

  test("cuts a value of megabytes and says so", async () => {
    const { records, signIn } = await openDashboard();
    const record = recordOf("r-1");
    const params = { name: "refund", arguments: { note: "x".repeat(1_000_000) } };
    records.set("r-1", { ...record, origin: { ...record.origin, params } });
    const reply = await (await signIn()).post("runs/r-1/reveal", { part: "all" });
    expect(reply.json().values[0]).toMatchObject({ label: "Request", cut: true });
    expect(reply.body.length).toBeLessThan(40_000);
  });
});

describe("cancelling many", () => {
  test("cancels what the filter finds, a few at a time, each with its own line in the audit log", async () => {
    const { records, history, told, signIn } = await openDashboard();
    for (let at = 0; at < 30; at += 1) {
      records.set(`r-${at}`, recordOf(`r-${at}`));
      await history.record(waitingEvents(`r-${at}`, start - 50_000 + at));
    }
    await history.record(waitingEvents("other", start - 60_000, { principal: "bob" }));
    const visitor = await signIn();
    const filter = { status: "waiting", principal: "ann" };
    const first = (await visitor.post("cancel-many", { filter, reason: "sale is over" })).json();
    expect(first).toMatchObject({ done: 25, notApplicable: 0 });
    expect(first.next).toEqual(expect.any(String));
    const second = (await visitor.post("cancel-many", { filter, cursor: first.next })).json();
    expect(second.done).toBe(5);
    expect(told).toHaveLength(30);
    expect(told).toContain("cancel r-0");
    expect(told).not.toContain("cancel other");
    expect(await history.audits(100)).toHaveLength(30);
  });

  test.each([
    [{}],
    [{ filter: {} }],
    [{ filter: { status: "completed" } }],
    [{ filter: { principal: "ann" } }],
    [{ filter: { status: "waiting", tool: "x" } }],
    [{ filter: { status: "waiting" }, cursor: "forged" }],
    [{ filter: "waiting" }],
  ])("without a filter that says which is refused: %j", async (body) => {
    const { told, signIn } = await openDashboard();
    const reply = await (await signIn()).post("cancel-many", body);
    expect(reply.statusCode).toBe(400);
    expect(told).toEqual([]);
  });
});

describe("queues, workers and keys", () => {
  test("are acted on by name, and each act is audited", async () => {
    const said: string[] = [];
    const queues: QueueDesk = {
      queues: ["mail"],
      standing: async () => [],
      pause: async (queue) => void said.push(`pause ${queue}`),
      resume: async (queue) => void said.push(`resume ${queue}`),
      resize: async (queue, limit) => void said.push(`resize ${queue} ${limit}`),
      raw: () => [],
    };
    const { history, signIn } = await openDashboard({
      queues,
      keys: {
        list: async () => [{ kid: "k1", status: "sealing" }],
        rotate: async () => said.push("rotate"),
        revoke: async (kid) => {
          said.push(`revoke ${kid}`);
          return { known: true };
        },
      },
      workers: { drain: async (instance) => void said.push(`drain ${instance}`) },
    });
    const beat = {
      version: "1",
      host: "h",
      pid: 1,
      startedAt: start,
      seenAt: start,
      running: 0,
      draining: false,
    };
    await history.beat({ ...beat, instance: "w-1", role: "worker" });
    await history.beat({ ...beat, instance: "f-1", role: "front" });
    const visitor = await signIn();
    await visitor.post("queues/mail/pause");
    await visitor.post("queues/mail/resume");
    await visitor.post("queues/mail/resize", { limit: 4 });
    await visitor.post("queues/mail/resize", {});
    await visitor.post("instances/w-1/drain");
    await visitor.post("keys/rotate");
    await visitor.post("keys/k1/revoke");
    expect(said).toEqual([
      ...["pause mail", "resume mail", "resize mail 4", "resize mail undefined"],
      ...["drain w-1", "rotate", "revoke k1"],
    ]);
    expect(
      (await history.audits(20)).map(({ action, target }) => `${action} ${target}`).toReversed(),
    ).toEqual([
      ...["pause mail", "resume mail", "resize mail", "resize mail", "drain w-1"],
      ...["rotate_keys ring", "revoke_key k1"],
    ]);
    expect((await visitor.post("instances/f-1/drain")).json()).toMatchObject({
      outcome: "not_applicable",
    });
    for (const path of ["queues/other/pause", "instances/none/drain", "keys/none/revoke"]) {
      expect((await visitor.post(path)).statusCode, path).toBe(404);
    }
    for (const limit of [0, -1, 1.5, "many", 1e9]) {
      expect((await visitor.post("queues/mail/resize", { limit })).statusCode).toBe(400);
    }
    expect(said).toHaveLength(7);
  });
});
