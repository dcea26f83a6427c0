/** subscriptions/listen under attack: filters that are none, floods of streams, readers that don't read, tokens that end. */
import { setImmediate } from "node:timers/promises";
import { defineServer, resource, type ServerDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { type Cluster, cluster, type Instance } from "./legacy/support/instances.ts";
import { post, sessionOf } from "./legacy/support/legacyClient.ts";
import { watchedServer } from "./legacy/support/server.ts";
import {
  heardAt,
  listening,
  metric,
  subscribe,
  subscribedBytes,
  subscriptionId,
} from "./support/listener.ts";

type Options = NonNullable<Parameters<typeof cluster>[1]>;
type Authenticate = NonNullable<Options["authenticate"]>;

const streams = "reprise_front_streams";
const endings = (how: string): string =>
  `reprise_front_requests_total{method="subscriptions/listen",outcome="${how}"}`;

/** Callers by the header `x-caller`: name, scopes, and seconds from `startsAt` to the token's end. */
const callers: Authenticate = ({ headers }) => {
  const [name = "", scopes = "", exp] = String(headers["x-caller"]).split(";");
  const claims = exp === undefined ? {} : { exp: Number(exp) };
  return { caller: { principal: name, person: name, scopes: scopes.split(" "), claims } };
};
const as = (caller: string) => ({ headers: { "x-caller": caller } });
const tools = { toolsListChanged: true };

const secured = (): ServerDefinition =>
  defineServer({
    name: "secured",
    tools: [
      tool({ name: "open", description: "For all", handler: () => "ok" }),
      tool({ name: "admin", description: "For few", scopes: ["admin"], handler: () => "ok" }),
    ],
    resources: [
      resource({ uri: "test://open", name: "open", handler: () => "ok" }),
      resource({ uri: "test://vault", name: "vault", scopes: ["vault"], handler: () => "ok" }),
    ],
  });

describe("a subscription that is no good", () => {
  const hostile: readonly (readonly [string, unknown])[] = [
    ["no filter", undefined],
    ["a list as filter", []],
    ["a text for a flag", { toolsListChanged: "true" }],
    ["an object for URIs", { resourceSubscriptions: { length: 3 } }],
    ["a million URIs", { resourceSubscriptions: Array.from({ length: 1e6 }, () => "a") }],
  ];
  test.each(hostile)(
    "with %s is refused as wrong parameters, and no stream opens",
    async (_what, filter) => {
      const { instances } = await cluster(watchedServer().server);
      const got = await subscribe(instances[0].url, filter);
      expect([got.status, got.json.error?.code, got.stream]).toEqual([200, -32602, undefined]);
      expect(await metric(instances[0].url, streams)).toBe(0);
    },
  );

  test("names resources that nobody has, and hears nothing of them", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const resourceSubscriptions = ["javascript:alert(1)", "test://", "../../etc/passwd", "\u0000"];
    const { stream, honoured } = await listening(a.url, { resourceSubscriptions });
    expect(honoured).toEqual({ resourceSubscriptions: [] });
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://"));
    await a.close();
    expect(await stream.rest()).toHaveLength(1);
  });
});

describe("a flood of subscriptions", () => {
  test("of one caller is stopped at its limit, and other callers have theirs", async () => {
    const options = { authenticate: callers, maxSubscriptionsPerCaller: 2 };
    const { instances } = await cluster(secured(), options);
    const [{ url }] = instances;
    const first = await listening(url, tools, as("eve"));
    await listening(url, tools, as("eve"));
    const third = await subscribe(url, tools, as("eve"));
    expect(third.status).toBe(200);
    expect(third.json.error).toMatchObject({
      code: -31001,
      data: { code: "BUSY", retryAfterMs: 1000 },
    });
    await listening(url, tools, as("ann"));
    await first.stream.leave();
    await expect.poll(async () => (await subscribe(url, tools, as("eve"))).stream).toBeDefined();
  });

  test("of everybody is stopped at what the front holds", async () => {
    const { instances } = await cluster(watchedServer().server, { maxSubscriptions: 3 });
    const [{ url }, other] = instances;
    for (let count = 0; count < 3; count += 1) await listening(url, tools);
    expect((await subscribe(url, tools)).json.error?.code).toBe(-31001);
    await listening(other.url, tools);
    expect(await metric(url, streams)).toBe(3);
  });

  test.each(["maxSubscriptions", "maxSubscriptionsPerCaller"])(
    "with an unfit %s is a front that does not start",
    async (name) => {
      const options = { [name]: -1 } as Options;
      await expect(cluster(watchedServer().server, options)).rejects.toThrow(new RegExp(name));
    },
  );
});

describe("a reader that does not read", () => {
  const big = "x".repeat(2_000);
  const uris = Array.from({ length: 30 }, (_, place) => `test://item/${place}-${big}`);

  /** Tells more than the connection holds. */
  async function flood(all: Cluster, instance: Instance, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const last = uris.at(-1) ?? "";
      for (const uri of uris.slice(0, -1)) await instance.runtime.resourceUpdated(uri);
      await heardLast(all, instance, last);
      // Lets the connection take what it can.
      await setImmediate();
    }
  }

  /** The last of a round was heard, and so were those before it. */
  async function heardLast({ clock }: Cluster, { runtime }: Instance, last: string): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      const stop = runtime.onChange((change) => {
        if (change.kind !== "resourceUpdated" || change.uri !== last) return;
        stop();
        resolve();
      });
    });
    await runtime.resourceUpdated(last);
    await heard;
    clock.advance(100);
  }

  test("is told each change once when it reads again, however often it came", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const filter = { resourceSubscriptions: [...uris, "test://one"] };
    const response = await subscribedBytes(a.url, filter);
    const rounds = 200;
    await flood(all, a, rounds);
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://one"));
    let text = "";
    for await (const chunk of response) {
      text += String(chunk);
      if (text.includes('"uri":"test://one"')) break;
    }
    for (const uri of uris) expect(text).toContain(uri);
    expect(text.match(/resources\/updated/g)?.length).toBeLessThan(rounds * uris.length);
  });

  test("is cut off after four silent heartbeats, and keeps no server from stopping", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    await subscribedBytes(a.url, { resourceSubscriptions: uris });
    await flood(all, a, 200);
    expect(await metric(a.url, streams)).toBe(1);
    all.clock.advance(61_000);
    expect(await metric(a.url, streams)).toBe(0);
    expect(await metric(a.url, endings("cut"))).toBe(1);
    await a.close();
  });

  test("is cut off when the server stops", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    await subscribedBytes(a.url, { resourceSubscriptions: uris });
    await flood(all, a, 200);
    await a.close();
  });
});

describe("the end of a token", () => {
  const exp = (all: Cluster, seconds: number): number => all.clock.now() / 1000 + seconds;

  test("ends the subscription in order, and not before", async () => {
    const all = await cluster(secured(), { authenticate: callers });
    const [a] = all.instances;
    const { stream } = await listening(a.url, tools, { id: 5, ...as(`ann;;${exp(all, 60)}`) });
    all.clock.advance(59_000);
    await heardAt(all, a, () => a.runtime.tools.disable("open"));
    expect((await stream.message()).method).toBe("notifications/tools/list_changed");
    all.clock.advance(1_250);
    const rest = await stream.rest();
    expect(rest).toMatchObject([
      { id: 5, result: { resultType: "complete", _meta: { [subscriptionId]: 5 } } },
    ]);
    expect(await metric(a.url, endings("expired"))).toBe(1);
  });

  test("that clock tolerance let in opens no stream but asks for a new token", async () => {
    const all = await cluster(secured(), {
      authenticate: callers,
      protectedResource: {
        resource: "http://127.0.0.1/mcp",
        authorizationServers: ["http://127.0.0.1:1"],
      },
    });
    const [a] = all.instances;
    const got = await subscribe(a.url, tools, as(`ann;;${exp(all, -10)}`));
    expect(got.status).toBe(401);
    expect(got.headers.get("www-authenticate")).toMatch(/error="invalid_token"/);
    expect(await metric(a.url, streams)).toBe(0);
  });

  test.each(["never", "NaN", "1e999"])("that is %s is no end", async (end) => {
    const all = await cluster(secured(), { authenticate: callers });
    const [a] = all.instances;
    const { stream } = await listening(a.url, tools, as(`ann;;${end}`));
    all.clock.advance(60 * 60 * 1000);
    await heardAt(all, a, () => a.runtime.tools.disable("open"));
    expect((await stream.message()).method).toBe("notifications/tools/list_changed");
  });
});

describe("what a caller may not see", () => {
  test("is not in its subscription, like what does not exist", async () => {
    const all = await cluster(secured(), { authenticate: callers });
    const [a, b] = all.instances;
    const filter = { resourceSubscriptions: ["test://open", "test://vault", "test://nothing"] };
    const eve = await listening(a.url, filter, as("eve"));
    const ann = await listening(a.url, filter, as("ann;vault"));
    expect(eve.honoured).toEqual({ resourceSubscriptions: ["test://open"] });
    expect(ann.honoured).toEqual({ resourceSubscriptions: ["test://open", "test://vault"] });
    await heardAt(all, a, () => b.runtime.resourceUpdated("test://vault"));
    await heardAt(all, a, () => b.runtime.resourceUpdated("test://open"));
    expect((await eve.stream.message()).params?.["uri"]).toBe("test://open");
    expect((await ann.stream.message()).params?.["uri"]).toBe("test://vault");
  });

  test("is not told when it is switched: only who sees the tool hears of it", async () => {
    const all = await cluster(secured(), { authenticate: callers });
    const [a, b] = all.instances;
    const eve = await listening(a.url, tools, as("eve"));
    const ann = await listening(a.url, tools, as("ann;admin"));
    await heardAt(all, a, () => b.runtime.tools.disable("admin"));
    expect((await ann.stream.message()).method).toBe("notifications/tools/list_changed");
    await a.close();
    expect(await eve.stream.rest()).toMatchObject([{ result: { resultType: "complete" } }]);
  });

  test("can't be subscribed to by clients of older revisions either", async () => {
    const { instances } = await cluster(secured(), { authenticate: callers });
    const [{ url }] = instances;
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test-client", version: "1.0.0" },
    };
    const status = async (caller: string): Promise<number> => {
      const { headers } = as(caller);
      const begin = { jsonrpc: "2.0", id: 0, method: "initialize", params };
      const session = sessionOf(
        (await post(url, begin, headers)).headers.get("mcp-session-id") ?? "",
      );
      const method = "resources/subscribe";
      const body = { jsonrpc: "2.0", id: 1, method, params: { uri: "test://vault" } };
      return (await session.send(url, body, headers)).status;
    };
    expect([await status("eve"), await status("ann;vault")]).toEqual([403, 200]);
  });
});
