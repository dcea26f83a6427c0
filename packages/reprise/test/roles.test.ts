/**
 * Fronts and workers in one process, over a Redis of their own: what the roles join, refuse, and close.
 */
import { defineServer, serve, tool } from "reprise";
import { connect, type FormAsk, type Host } from "reprise/client";
import {
  parseSettings,
  type ServedFront,
  type Settings,
  serveFront,
  serveOps,
  serveWorker,
} from "reprise/roles";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { accepted, RawClient } from "../../../test/support/rawMcp.ts";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ appendonly: true, appendfsync: "no" });
});
afterAll(() => redis.stop());

let spaces = 0;
/** Settings of a deployment of its own on the shared Redis. */
function settingsOf(env: Readonly<Record<string, string>> = {}): Settings {
  spaces += 1;
  return parseSettings({
    env: {
      REPRISE_REDIS_URL: redis.url,
      REPRISE_NAMESPACE: `roles-${spaces}`,
      REPRISE_PORT: "0",
      REPRISE_PROBE_PORT: "0",
      ...env,
    },
    readSecretFile: () => "",
  });
}

/** A server that notes in which process its step ran, as the caller saw it. */
function notary(): { readonly server: ReturnType<typeof defineServer>; readonly noted: string[] } {
  const noted: string[] = [];
  const server = defineServer({
    name: "notary",
    tools: [
      tool({
        name: "note",
        description: "Notes a text after a yes",
        input: z.object({ text: z.string() }),
        async handler({ text }, ctx) {
          if (!(await ctx.confirm(`Note ${text}?`))) return "Nothing was noted.";
          await ctx.step("note", () => {
            noted.push(text);
          });
          return `Noted for ${ctx.caller.principal}.`;
        },
      }),
    ],
  });
  return { server, noted };
}

const sayYes: Host = {
  form: (_ask: FormAsk) =>
    Promise.resolve({ action: "accept", content: new Map([["confirm", true]]) }),
};

async function note(front: ServedFront, text: string): Promise<string | undefined> {
  const client = await connect({ url: front.url, host: sayYes });
  onTestFinished(() => client.close());
  const { result } = (await client.callTool("note", { text })) as {
    readonly result?: { readonly content?: readonly { readonly text?: string }[] };
  };
  return result?.content?.[0]?.text;
}

async function front(
  server: ReturnType<typeof defineServer>,
  settings: Settings,
  extras?: Parameters<typeof serveFront>[2],
): Promise<ServedFront> {
  const served = await serveFront(server, settings, extras);
  onTestFinished(() => served.close());
  return served;
}

describe("shared records", () => {
  test("are the same in every front and worker of a deployment, and end with each", async () => {
    const { server } = notary();
    const settings = settingsOf();
    const [one, other] = [await front(server, settings), await front(server, settings)];
    const worker = await serveWorker(server, settings);
    onTestFinished(() => worker.close());
    const session = { kind: "session", id: "a" };
    const until = Date.now() + 60_000;
    const revision = await one.runtime.shared.put(session, "made at one", undefined, until);
    const record = { value: "made at one", revision };
    expect(await other.runtime.shared.get(session)).toEqual(record);
    expect(await worker.runtime.shared.get(session)).toEqual(record);
    await one.close();
    await expect(one.runtime.shared.get(session)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect(await other.runtime.shared.get(session)).toEqual(record);
  });

  test("outlive a server on the embedded store, and without a store are the process's own", async () => {
    const { server } = notary();
    const session = { kind: "session", id: "a" };
    const until = Date.now() + 60_000;
    const dataDir = await temporaryFolder();
    const first = await serve(server, { port: 0, dataDir });
    const revision = await first.runtime.shared.put(session, "kept", undefined, until);
    await first.close();
    const second = await serve(server, { port: 0, dataDir });
    onTestFinished(() => second.close());
    expect(await second.runtime.shared.get(session)).toEqual({ value: "kept", revision });
    const alone = await serve(server, { port: 0, store: "none" });
    onTestFinished(() => alone.close());
    expect(await alone.runtime.shared.get(session)).toBeUndefined();
    expect(await alone.runtime.shared.put(session, 1, undefined, until)).toBeDefined();
  });
});

describe("a front", () => {
  test("runs handlers itself where dispatch is inline", async () => {
    const { server, noted } = notary();
    const served = await front(server, settingsOf({ REPRISE_DISPATCH: "inline" }));
    expect(await note(served, "a")).toBe("Noted for anonymous.");
    expect(noted).toEqual(["a"]);
  });

  test("runs no handler itself where there are workers", async () => {
    const [atFront, atWorker] = [notary(), notary()];
    const settings = settingsOf();
    const served = await front(atFront.server, settings);
    const worker = await serveWorker(atWorker.server, settings);
    onTestFinished(() => worker.close());
    expect(await note(served, "b")).toBe("Noted for anonymous.");
    expect([atFront.noted, atWorker.noted]).toEqual([[], ["b"]]);
  });

  test("asks the served file's authenticate who calls", async () => {
    const { server } = notary();
    const served = await front(server, settingsOf({ REPRISE_DISPATCH: "inline" }), {
      authenticate: () => ({ caller: { principal: "ada", person: "ada", scopes: [], claims: {} } }),
    });
    expect(await note(served, "c")).toBe("Noted for ada.");
  });

  const tokens = {
    REPRISE_DISPATCH: "inline",
    REPRISE_PUBLIC_URL: "https://mcp.example.com/mcp",
    REPRISE_TOKEN_ISSUERS: "https://127.0.0.1:1",
    REPRISE_TOKEN_SCOPES: "notes",
  };

  test("wants the tokens that the settings name, and says where to get them", async () => {
    const { server } = notary();
    const served = await front(server, settingsOf(tokens));
    const client = new RawClient();
    onTestFinished(() => client.close());
    const refused = await client.send(served.url, { params: { name: "note", arguments: {} } });
    expect(refused.status).toBe(401);
    expect(refused.rawHeaders).toContain(
      'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="notes"',
    );
    const metadata = new URL("/.well-known/oauth-protected-resource", served.url);
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: tokens.REPRISE_PUBLIC_URL,
      authorization_servers: [tokens.REPRISE_TOKEN_ISSUERS],
    });
  });

  test.each([
    ["publicUrl must be https", { ...tokens, REPRISE_PUBLIC_URL: "http://mcp.example.com/mcp" }],
    ["tokenIssuers must be https", { ...tokens, REPRISE_TOKEN_ISSUERS: "http://a.example.com" }],
    ["tokenScopes", { ...tokens, REPRISE_TOKEN_SCOPES: 'a"b' }],
  ])("names the setting that tokens can't be checked with: %s", async (words, env) => {
    const { server } = notary();
    await expect(front(server, settingsOf(env))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(words) as string,
    });
  });

  test("refuses two deciders of who calls", async () => {
    const { server } = notary();
    const authenticate = () => ({
      caller: { principal: "ada", person: "ada", scopes: [], claims: {} },
    });
    await expect(front(server, settingsOf(tokens), { authenticate })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });

  test("opens what another one sealed with the same requestStateKey", async () => {
    const { server, noted } = notary();
    const settings = settingsOf({
      REPRISE_DISPATCH: "inline",
      REPRISE_REQUEST_STATE_KEY: "0123456789abcdef0123456789abcdef",
    });
    const [asking, answered] = [await front(server, settings), await front(server, settings)];
    const client = new RawClient();
    onTestFinished(() => client.close());
    const params = { name: "note", arguments: { text: "d" } };
    const requestState = await client.ask(asking.url, { params });
    const answers = { requestState, inputResponses: { confirm: accepted } };
    await client.call(answered.url, { params: { ...params, ...answers } });
    expect(noted).toEqual(["d"]);
  });

  test.each([
    [-1, "inline"],
    [1, "inline"],
    [-1, "pool"],
  ])(
    "whose machine's clock is %i days off asks what lives as long as it should, also elsewhere (%s)",
    async (days, dispatch) => {
      const { server, noted } = notary();
      const settings = settingsOf({
        REPRISE_DISPATCH: dispatch,
        REPRISE_REQUEST_STATE_LIFETIME: "1h",
      });
      const { now } = Date;
      const shifted = vi.spyOn(Date, "now");
      onTestFinished(() => shifted.mockRestore());
      const shift = (by: number) =>
        shifted.mockImplementation(() => now() + Math.round(by * 24 * 3_600_000));
      shift(days);
      const off = await front(server, settings);
      if (dispatch === "pool") {
        const worker = await serveWorker(server, settings);
        onTestFinished(() => worker.close());
      }
      const client = new RawClient();
      onTestFinished(() => client.close());
      const params = { name: "note", arguments: { text: "far" } };
      const reply = await client.call(off.url, { params });
      const { requestState, _meta: meta = {} } = reply.result ?? {};
      const livesMs = Date.parse(String(meta["reprise/answerBefore"])) - now();
      expect(Math.round(livesMs / 60_000)).toBe(60);
      // The legacy lane's sessions, records and questions as well.
      const legacy = await connect({ url: off.url, host: sayYes, era: "legacy" });
      onTestFinished(() => legacy.close());
      await legacy.callTool("note", { text: "near" });

      shift(0);
      const right = await front(server, settings);
      const answers = { requestState, inputResponses: { confirm: accepted } };
      await client.call(right.url, { params: { ...params, ...answers } });
      expect(noted).toEqual(["near", "far"]);
    },
  );

  test("is asked for its open questions by a dashboard whose clock is a day ahead, which shows them as open", {
    timeout: 60_000,
  }, async () => {
    const { server } = notary();
    const settings = settingsOf({
      REPRISE_DISPATCH: "inline",
      REPRISE_OPS_PORT: "0",
      REPRISE_REQUEST_STATE_LIFETIME: "1h",
    });
    const asking = await front(server, settings);
    const client = new RawClient();
    onTestFinished(() => client.close());
    await client.call(asking.url, { params: { name: "note", arguments: { text: "a" } } });

    const { now } = Date;
    const shifted = vi.spyOn(Date, "now").mockImplementation(() => now() + 24 * 3_600_000);
    onTestFinished(() => shifted.mockRestore());
    const ops = await serveOps(server, settings);
    onTestFinished(() => ops.close());
    const entered = await fetch(ops.newLink?.() ?? "", { redirect: "manual" });
    const cookie = entered.headers
      .getSetCookie()
      .map((one) => one.split(";")[0] ?? "")
      .filter((pair) => !pair.endsWith("="))
      .join("; ");
    const open = async (): Promise<number> => {
      const url = new URL("/ops/api/runs?status=waiting", ops.url);
      const reply = await fetch(url, { headers: { cookie } });
      const { runs } = (await reply.json()) as { readonly runs: readonly unknown[] };
      return runs.length;
    };
    // History is a little behind; once there, a look must not take it away for the next one.
    await vi.waitFor(async () => expect(await open()).toBe(1), { timeout: 10_000 });
    expect(await open()).toBe(1);
  });

  test("refuses an address that others reach while nobody is asked who they are", async () => {
    await expect(
      serveFront(notary().server, settingsOf({ REPRISE_HOST: "0.0.0.0" })),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("says that its port is taken, and closes what it had opened", async () => {
    const { server } = notary();
    const first = await front(server, settingsOf());
    const again = settingsOf({ REPRISE_PORT: String(first.port) });
    await expect(serveFront(server, again)).rejects.toMatchObject({ code: "PORT_IN_USE" });
  });

  test.each([
    [{ REPRISE_REDIS_CLUSTER: "not an address" }, "redisCluster"],
    [{ REPRISE_REDIS_SENTINELS: "a:b:c", REPRISE_REDIS_SENTINEL_NAME: "m" }, "redisSentinels"],
  ])("refuses %j, naming the setting", async (env, name) => {
    const given = { REPRISE_REDIS_URL: "redis://u:p@127.0.0.1:1", ...env };
    await expect(serveFront(notary().server, settingsOf(given))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(name),
    });
  });

  test("closes twice as once, and lets no call in afterwards", async () => {
    const served = await front(notary().server, settingsOf());
    await Promise.all([served.close(), served.close()]);
    await expect(fetch(served.url)).rejects.toThrow("fetch failed");
  });
});

describe("a worker", () => {
  test("answers its probes, and serves the queues that handlers name", async () => {
    const worker = await serveWorker(notary().server, settingsOf());
    onTestFinished(() => worker.close());
    const statusOf = async (path: string): Promise<number> =>
      (await fetch(new URL(path, worker.probesUrl))).status;
    expect(await statusOf("/healthz")).toBe(200);
    expect(await statusOf("/readyz")).toBe(200);
    expect(await statusOf("/mcp")).toBe(404);
    expect(worker.queues).toEqual(["default"]);
  });

  test("tells how long the oldest call waits, per queue, and what it runs itself", async () => {
    const worker = await serveWorker(notary().server, settingsOf());
    onTestFinished(() => worker.close());
    const text = await (await fetch(new URL("/metrics", worker.probesUrl))).text();
    const samples = text.split("\n").filter((line) => /^reprise_(queue|worker)_/.test(line));
    expect(samples.toSorted()).toEqual([
      'reprise_queue_oldest_wait_seconds{queue="default"} 0',
      'reprise_queue_waiting{queue="default"} 0',
      "reprise_worker_running 0",
    ]);
  });

  test("serves only the queues that it is told", async () => {
    const settings = settingsOf({ REPRISE_QUEUES: "slow", REPRISE_QUEUE_CONCURRENCY: "slow=1" });
    const worker = await serveWorker(notary().server, settings);
    onTestFinished(() => worker.close());
    expect(worker.queues).toEqual(["slow"]);
  });

  test("says that the port of its probes is taken", async () => {
    const served = await front(notary().server, settingsOf());
    const env = { REPRISE_PROBE_PORT: String(served.port) };
    await expect(serveWorker(notary().server, settingsOf(env))).rejects.toMatchObject({
      code: "PORT_IN_USE",
    });
  });

  test("is gone for good once it is closed", async () => {
    const worker = await serveWorker(notary().server, settingsOf());
    await Promise.all([worker.close(), worker.close()]);
    await expect(fetch(new URL("/healthz", worker.probesUrl))).rejects.toThrow("fetch failed");
  });
});
