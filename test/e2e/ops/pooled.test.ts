/**
 * What operators do to runs that workers execute, on Redis: what is told beside the button is what clients get, and a worker goes on
 * with what was released or retried.
 */
import { CallerError, defineServer, notDone, type ServerDefinition, tool } from "reprise";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { accepted, type RawMessage } from "../../support/rawMcp.ts";
import { type RedisServer, startRedis } from "../../support/redisServer.ts";
import { type Deployment, openDeployment } from "./support/deployment.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** The far side of all steps: what was done there, and whether it refuses. */
interface Remote {
  readonly done: string[];
  isClosed: boolean;
}

function whileOpen(remote: Remote, what: string): void {
  if (remote.isClosed) throw notDone(new CallerError("The bank is closed."));
  remote.done.push(what);
}

const once = { retry: { tries: 1 } };
const input = z.object({ order: z.string() });

function bank(remote: Remote): ServerDefinition {
  const described = { input, idempotency: { key: ({ order }: { order: string }) => order } };
  return defineServer({
    name: "bank",
    tools: [
      tool({
        name: "pay",
        description: "Pays after a yes",
        ...described,
        async handler({ order }, ctx) {
          await ctx.step("reserve", () => void remote.done.push("reserve"));
          if (!(await ctx.confirm(`Pay ${order}?`))) return "Not paid.";
          await ctx.step("pay", () => whileOpen(remote, "pay"), once);
          return "Paid.";
        },
      }),
      tool({
        name: "hold",
        description: "Holds money until a yes",
        ...described,
        async handler({ order }, ctx) {
          const undo = (): void => whileOpen(remote, "give back");
          await ctx.step("hold", () => void remote.done.push("hold"), { ...once, undo });
          if (!(await ctx.confirm(`Keep ${order}?`))) return "Not kept.";
          return "Kept.";
        },
      }),
      tool({
        name: "weigh",
        description: "Weighs an order after a yes",
        input,
        output: z.object({ grams: z.number() }),
        async handler(_args, ctx) {
          await ctx.step("scale", () => void remote.done.push("scale"));
          await ctx.confirm("Weigh?");
          return { grams: 7 };
        },
      }),
    ],
  });
}

interface Opened extends Deployment {
  readonly remote: Remote;
  /** The tool's question, and what its answer is. */
  asked(
    name: string,
  ): Promise<{ readonly answer: Readonly<Record<string, unknown>>; readonly runId: string }>;
  again(name: string, more?: Readonly<Record<string, unknown>>): Promise<RawMessage>;
}

async function open(isClosed = false): Promise<Opened> {
  const remote: Remote = { done: [], isClosed };
  const deployment = await openDeployment(redis, bank(remote), {
    // A sweep finds what was released within a lease.
    REPRISE_LEASE_MS: "1000",
  });
  const again: Opened["again"] = (name, more = {}) =>
    deployment.call({ name, arguments: { order: "o-1" }, ...more });
  return {
    ...deployment,
    remote,
    again,
    async asked(name) {
      const { requestState } = (await again(name)).result ?? {};
      expect(requestState).toBeDefined();
      const page = await deployment.operator.until<Page>(
        "runs?status=waiting",
        ({ runs }) => runs.length === 1,
      );
      const runId = page.runs[0]?.runId ?? "";
      return { runId, answer: { requestState, inputResponses: { confirm: accepted } } };
    },
  };
}

interface Page {
  readonly runs: readonly { readonly runId: string }[];
}

interface Shown {
  readonly record?: { readonly status: string };
}

const becomes = ({ operator }: Opened, runId: string, status: string): Promise<Shown> =>
  operator.until<Shown>(`runs/${runId}`, ({ record }) => record?.status === status);

describe("retry of a run that a worker executed", () => {
  test("is executed by a worker, repeats no completed step, and its outcome is what whoever comes again gets", async () => {
    const opened = await open(true);
    const { operator, remote, asked, again } = opened;
    const { answer, runId } = await asked("pay");
    expect((await again("pay", answer)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("nothing was done in it") }],
    });
    remote.isClosed = false;
    expect(await operator.post(`runs/${runId}/retry`)).toMatchObject({
      outcome: "done",
      status: "running",
    });
    // Nobody comes again before it is over: a worker finds it by itself.
    await becomes(opened, runId, "completed");
    expect((await again("pay", answer)).result?.content?.[0]?.text).toBe("Paid.");
    expect((await again("pay")).result?.content?.[0]?.text).toBe("Paid.");
    expect(remote.done).toEqual(["reserve", "pay"]);
  });

  test("is joined by a client that comes again meanwhile", async () => {
    const { operator, remote, asked, again } = await open(true);
    const { answer, runId } = await asked("pay");
    expect((await again("pay", answer)).result?.isError).toBe(true);
    remote.isClosed = false;
    expect(await operator.post(`runs/${runId}/retry`)).toMatchObject({ outcome: "done" });
    const replies = await Promise.all([again("pay", answer), again("pay"), again("pay", answer)]);
    expect(replies.map(({ result }) => result?.content?.[0]?.text)).toEqual(
      replies.map(() => "Paid."),
    );
    expect(remote.done).toEqual(["reserve", "pay"]);
  });
});

describe("release of a run that is parked because its undo failed", () => {
  test("lets a worker undo it, and whoever comes again hears that it was cancelled and undone", async () => {
    const opened = await open(true);
    const { operator, remote, asked, again } = opened;
    const { answer, runId } = await asked("hold");
    expect(await operator.post(`runs/${runId}/cancel`)).toMatchObject({ outcome: "done" });
    await becomes(opened, runId, "parked");
    expect((await again("hold", answer)).error?.data?.code).toBe("UNDO_FAILED");
    const { runs } = await operator.until<Page>(
      "runs?status=attention",
      (page) => page.runs.length === 1,
    );
    expect(runs[0]?.runId).toBe(runId);

    remote.isClosed = false;
    expect(await operator.post(`runs/${runId}/release`)).toMatchObject({ outcome: "done" });
    await becomes(opened, runId, "undone");
    expect(remote.done).toEqual(["hold", "give back"]);
    expect((await again("hold", answer)).error?.data?.code).toBe("RUN_CANCELLED");
    // The record says whatever a second release finds.
    expect(await operator.post(`runs/${runId}/release`)).toMatchObject({
      outcome: "not_applicable",
    });
    expect(remote.done).toEqual(["hold", "give back"]);
  });
});

describe("finish of a run whose tool has an output schema", () => {
  test("refuses words as its result and says why, and takes them as its error", async () => {
    const { operator, remote, asked, again } = await open();
    const { answer, runId } = await asked("weigh");
    const text = "Weighed by hand: 7 g.";
    const refused = await operator.post<{ readonly outcome: string; readonly why: string }>(
      `runs/${runId}/finish`,
      { as: "completed", text },
    );
    expect(refused).toMatchObject({ outcome: "not_applicable", status: "waiting" });
    expect(refused.why).toContain("output schema");
    expect(await operator.post(`runs/${runId}/finish`, { as: "failed", text })).toMatchObject({
      outcome: "done",
      status: "failed",
    });
    expect((await again("weigh", answer)).result).toMatchObject({
      isError: true,
      content: [{ text }],
    });
    expect(remote.done).toEqual(["scale"]);
  });
});
