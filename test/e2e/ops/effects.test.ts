/**
 * What stands beside each button is what a client that comes again gets: every action on a run, on the embedded store, from the
 * dashboard's own API to an MCP client's next request.
 */
import { CallerError, defineServer, notDone, type ServedServer, tool } from "reprise";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { accepted, RawClient, type RawMessage } from "../../support/rawMcp.ts";
import { serveForTest } from "../../support/temporary.ts";
import { type Operator, operatorWith } from "./support/operator.ts";

interface Shown {
  readonly summary?: { readonly status: string };
  readonly record?: {
    readonly status: string;
    readonly entries: readonly { readonly name: string }[];
  };
}

/** A server whose step fails as often as it is told, the dashboard, and a client. */
async function open(failures = 0): Promise<{
  readonly operator: Operator;
  readonly served: ServedServer;
  readonly done: readonly string[];
  call(more?: object, key?: string): Promise<RawMessage>;
}> {
  const done: string[] = [];
  let left = failures;
  const server = defineServer({
    name: "clerk",
    tools: [
      tool({
        name: "file",
        description: "Files a paper after a yes",
        input: z.object({ paper: z.string() }),
        idempotency: { key: ({ paper }) => paper, scope: "tool" },
        async handler({ paper }, ctx) {
          await ctx.step("stamp", () => {
            done.push("stamp");
          });
          if (!(await ctx.confirm(`File ${paper}?`))) return "Not filed.";
          await ctx.step(
            "file",
            () => {
              if (left > 0) {
                left -= 1;
                throw notDone(new CallerError("The drawer is locked."));
              }
              done.push("file");
            },
            { retry: { tries: 1 } },
          );
          return "Filed.";
        },
      }),
    ],
  });
  const served = await serveForTest(server, { ops: { print: () => undefined } });
  const client = new RawClient();
  const link = served.newOpsLink?.();
  if (link === undefined) throw new Error("there is a dashboard");
  return {
    operator: await operatorWith(link),
    served,
    done,
    async call(more = {}) {
      const params = { name: "file", arguments: { paper: "p-1" }, ...more };
      return JSON.parse((await client.send(served.url, { params })).body) as RawMessage;
    },
  };
}

async function runIdOf(operator: Operator): Promise<string> {
  const { runId } = await operator.post<{ runId: string | null }>("find-key", {
    tool: "file",
    key: "p-1",
  });
  if (runId === null) throw new Error("the key leads to a run");
  return runId;
}

const noteOf = async (operator: Operator, action: string): Promise<string> =>
  (await operator.get<{ actions: Record<string, { clients: string }> }>("me")).actions[action]
    ?.clients ?? "";

describe("an action of an operator", () => {
  test("cancel: whoever comes again gets RUN_CANCELLED, and the answer is not taken", async () => {
    const { operator, call, done } = await open();
    const asked = await call();
    const runId = await runIdOf(operator);
    expect(await operator.post(`runs/${runId}/cancel`, { reason: "not wanted" })).toMatchObject({
      outcome: "done",
    });
    const answered = await call({
      requestState: asked.result?.requestState,
      inputResponses: { confirm: accepted },
    });
    expect(answered.error?.data?.code).toBe("RUN_CANCELLED");
    expect(done).toEqual(["stamp"]);
    expect(await noteOf(operator, "cancel")).toContain("RUN_CANCELLED");
  });

  test("retry: whoever comes again gets the new outcome, and no completed step is repeated", async () => {
    const { operator, call, done } = await open(1);
    const asked = await call();
    const answer = {
      requestState: asked.result?.requestState,
      inputResponses: { confirm: accepted },
    };
    const failed = await call(answer);
    expect(failed.result?.isError).toBe(true);
    const runId = await runIdOf(operator);
    expect(await operator.post(`runs/${runId}/retry`)).toMatchObject({ outcome: "done" });
    await operator.until<Shown>(`runs/${runId}`, ({ record }) => record?.status === "completed");
    expect((await call(answer)).result?.content?.[0]?.text).toBe("Filed.");
    expect(done).toEqual(["stamp", "file"]);
    expect(await noteOf(operator, "retry")).toContain("its outcome instead of the old one");
  });

  test("finish: whoever comes again gets the operator's words, and the key stays taken", async () => {
    const { operator, call, done } = await open();
    const asked = await call();
    const runId = await runIdOf(operator);
    const finish = { as: "completed", text: "Filed by hand." };
    expect(await operator.post(`runs/${runId}/finish`, finish)).toMatchObject({
      outcome: "done",
      status: "completed",
    });
    const answer = {
      requestState: asked.result?.requestState,
      inputResponses: { confirm: accepted },
    };
    expect((await call(answer)).result?.content?.[0]?.text).toBe("Filed by hand.");
    expect((await call()).result?.content?.[0]?.text).toBe("Filed by hand.");
    expect(done).toEqual(["stamp"]);
    expect(await noteOf(operator, "finish")).toContain("the idempotency key stays taken");
  });

  test("that does not apply changes nothing, and says why", async () => {
    const { operator, call } = await open();
    const asked = await call();
    const answer = {
      requestState: asked.result?.requestState,
      inputResponses: { confirm: accepted },
    };
    await call(answer);
    const runId = await runIdOf(operator);
    for (const action of ["cancel", "release", "retry"]) {
      const reply = await operator.post<{ outcome: string; why: string }>(
        `runs/${runId}/${action}`,
      );
      expect([action, reply.outcome]).toEqual([action, "not_applicable"]);
      expect(reply.why).not.toBe("");
    }
    expect((await call(answer)).result?.content?.[0]?.text).toBe("Filed.");
  });
});

test("the inbox shows a question's key at once, its words after a reveal, and the run's steps; all of it is audited", async () => {
  const { operator, call } = await open();
  await call();
  const runId = await runIdOf(operator);
  const { runs } = await operator.until<{
    runs: readonly { runId: string; waiting?: { asks: readonly { key: string }[] } }[];
  }>("runs?status=waiting", (page) => page.runs.length === 1);
  expect(runs[0]).toMatchObject({ runId, waiting: { asks: [{ key: "confirm" }] } });
  expect(JSON.stringify(runs)).not.toContain("p-1");
  const { values } = await operator.post<{ values: readonly { text: string }[] }>(
    `runs/${runId}/reveal`,
    { part: "question" },
  );
  expect(values[0]?.text).toBe("File p-1?");
  const view = await operator.until<Shown & { events: readonly { type: string; step?: string }[] }>(
    `runs/${runId}`,
    ({ events }) => events.some(({ type }) => type === "asked"),
  );
  expect(view.record?.entries.map(({ name }) => name)).toEqual(["stamp"]);
  expect(view.events.flatMap(({ type, step }) => (type === "step_ended" ? [step] : []))).toEqual([
    "stamp",
  ]);
  const { items } = await operator.get<{ items: readonly { action: string; target: string }[] }>(
    "audit",
  );
  expect(items[0]).toMatchObject({ action: "reveal", target: runId });
});
