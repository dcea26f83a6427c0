/**
 * The dashboard of a deployment on Redis: queues, board, keys and workers as they are, acted on as the words beside the buttons say.
 */
import { defineServer, tool } from "reprise";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { launchChromium, openPage } from "../../support/chromium.ts";
import { accepted, type RawMessage } from "../../support/rawMcp.ts";
import { type RedisServer, startRedis } from "../../support/redisServer.ts";
import { type Deployment, openDeployment } from "./support/deployment.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ appendonly: true, appendfsync: "no", maxmemory: "256mb" });
});
afterAll(() => redis.stop());

const secret = "s3cret-of-a-caller";

const server = defineServer({
  name: "notary",
  tools: [
    tool({
      name: "note",
      description: "Notes a text after a yes",
      input: z.object({ text: z.string() }),
      async handler({ text }, ctx) {
        if (!(await ctx.confirm(`Note ${text}?`))) return "Nothing was noted.";
        await ctx.step("note", () => undefined);
        return "Noted.";
      },
    }),
  ],
});

/** One whose only tool is called with the secret. */
async function deployment(): Promise<Omit<Deployment, "call"> & { readonly call: Call }> {
  const opened = await openDeployment(redis, server);
  return {
    ...opened,
    call: (more = {}) => opened.call({ name: "note", arguments: { text: secret }, ...more }),
  };
}

type Call = (more?: object) => Promise<RawMessage>;

interface Queues {
  readonly queues: readonly {
    readonly queue: string;
    readonly waiting: number;
    readonly paused: boolean;
    readonly limit?: number;
    readonly capacity: number;
  }[];
}

describe("a queue", () => {
  test("that is paused takes no job, loses none, and executes what waited after it is resumed", async () => {
    const { operator, call } = await deployment();
    await operator.post("queues/default/pause");
    const waiting = call();
    const paused = await operator.until<Queues>("queues", ({ queues }) => queues[0]?.waiting === 1);
    expect(paused.queues[0]).toMatchObject({ queue: "default", paused: true, capacity: 16 });
    await operator.post("queues/default/resume");
    expect((await waiting).result?.resultType).toBe("input_required");
    expect((await operator.get<Queues>("queues")).queues[0]).toMatchObject({ paused: false });
  });

  test("is resized for all workers together, and given back to their own settings", async () => {
    const { operator } = await deployment();
    await operator.post("queues/default/resize", { limit: 3 });
    expect((await operator.get<Queues>("queues")).queues[0]?.limit).toBe(3);
    await operator.post("queues/default/resize");
    expect((await operator.get<Queues>("queues")).queues[0]?.limit).toBeUndefined();
  });

  test("is shown on the board without what its jobs carry, and the board changes nothing", async () => {
    const { operator, call, opsUrl } = await deployment();
    await operator.post("queues/default/pause");
    const waiting = call();
    await operator.until<Queues>("queues", ({ queues }) => queues[0]?.waiting === 1);
    const board = async (path: string, method = "GET"): Promise<Response> =>
      await fetch(new URL(`board/${path}`, opsUrl), {
        method,
        headers: { cookie: operator.cookie },
      });
    const listed = await board(
      "api/queues?activeQueue=default&status=latest&page=1&jobsPerPage=10",
    );
    const text = await listed.text();
    expect(listed.status).toBe(200);
    const { queues } = JSON.parse(text) as {
      queues: readonly { jobs: readonly { id: string; data: object }[] }[];
    };
    const [job] = queues[0]?.jobs ?? [];
    expect(job?.data).toEqual({});
    expect(text).not.toContain(secret);
    expect(await (await board(`api/queues/default/${job?.id}`)).text()).not.toContain(secret);
    expect((await board(`api/queues/default/${job?.id}/logs`)).status).not.toBe(500);
    for (const path of [
      "api/queues/default/empty",
      "api/queues/pause",
      "api/queues/default/obliterate",
    ]) {
      expect((await board(path, "PUT")).ok, path).toBe(false);
    }
    const stranger = await fetch(new URL("board/api/queues", opsUrl));
    expect(stranger.status).toBe(401);
    await operator.post("queues/default/resume");
    await waiting;
  });
});

test("the board's page works in Chromium and asks nothing of other hosts", async () => {
  const { link, opsUrl } = await deployment();
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const { page, problems, strangers } = await openPage(browser);
  await page.goto(link());
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.goto(`${opsUrl}board/`);
  await page.getByText("default").first().waitFor();
  expect(strangers).toEqual([]);
  expect(problems).toEqual([]);
});

describe("a key", () => {
  test("that is revoked opens nothing any more, and the client has to call anew", async () => {
    const { operator, call } = await deployment();
    const asked = await call();
    const { keys } = await operator.get<{ keys: readonly { kid: string }[] }>("keys");
    for (const { kid } of keys) await operator.post(`keys/${kid}/revoke`);
    const answer = {
      requestState: asked.result?.requestState,
      inputResponses: { confirm: accepted },
    };
    const patience = Date.now() + 30_000;
    let reply = await call(answer);
    // Every instance knows within ten seconds; one that does not yet still takes the answer's round from its record.
    while (reply.error === undefined && Date.now() < patience) reply = await call(answer);
    expect(reply.error?.code).toBe(-32602);
    expect((await call()).result?.resultType).toBe("input_required");
  });

  test("is followed by another one after a rotation, and what the old one sealed still opens", async () => {
    const { operator, call } = await deployment();
    const asked = await call();
    const before = await operator.get<{ keys: readonly object[] }>("keys");
    await operator.post("keys/rotate");
    await operator.until<{ keys: readonly object[] }>(
      "keys",
      ({ keys }) => keys.length > before.keys.length,
    );
    const answer = {
      requestState: asked.result?.requestState,
      inputResponses: { confirm: accepted },
    };
    expect((await call(answer)).result?.content?.[0]?.text).toBe("Noted.");
  });
});

test("the overview tells of queues, room, keys and instances of the deployment", async () => {
  const { operator, call } = await deployment();
  await call();
  const overview = await operator.until<{
    health: object;
    room: { limitBytes: number };
    queues: readonly object[];
    keys: { sealing: number };
    instances: readonly { role: string }[];
    counts: { byStatus: { waiting?: number } };
  }>("overview", ({ counts, instances }) => counts.byStatus.waiting === 1 && instances.length > 0);
  expect(overview.health).toEqual({ ok: true });
  expect(overview.room.limitBytes).toBe(256 * 1024 * 1024);
  expect(overview.queues).toHaveLength(1);
  expect(overview.keys.sealing).toBeGreaterThan(0);
});
