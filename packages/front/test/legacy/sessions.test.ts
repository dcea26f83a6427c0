/** Sessions of the handshake era and what needs no run, on two fronts that share nothing but their store and key. */
import { describe, expect, test } from "vitest";
import { cluster } from "./support/instances.ts";
import { initialize, post, sessionOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const hello = (protocolVersion: string) => ({
  ...{ jsonrpc: "2.0", id: "i", method: "initialize" },
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } },
});

describe("initialize", () => {
  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
  ])("a client that asks for %s gets %s and a session id of visible ASCII", async (asked, got) => {
    const { instances } = await cluster(watchedServer().server);
    const answer = await post(instances[0].url, hello(asked), {});
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id: "i", result: { protocolVersion: got } });
    expect(answer.headers.get("mcp-session-id")).toMatch(/^[\x21-\x7e]{20,2048}$/);
  });

  test("declares what is delivered and nothing else", async () => {
    const { instances } = await cluster(watchedServer().server);
    const { json } = await post(instances[0].url, hello("2025-11-25"), {});
    expect(json.result).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true },
        completions: {},
        logging: {},
      },
      serverInfo: { name: "watched", version: "1.0.0" },
      instructions: "Watch.",
    });
  });

  test("a client whose name makes the session id too long is told so", async () => {
    const { instances } = await cluster(watchedServer().server);
    const { params, ...rest } = hello("2025-11-25");
    const name = "\u0001".repeat(1000);
    const body = { ...rest, params: { ...params, clientInfo: { name, version: name } } };
    const answer = await post(instances[0].url, body, {});
    expect(answer.json.error).toMatchObject({ code: -32602, data: { limit: 2048 } });
    expect(answer.headers.get("mcp-session-id")).toBeNull();
  });
});

describe("a session", () => {
  test("of one front is known on the other, through its whole handshake", async () => {
    const [a, b] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    expect((await session.send(b.url, initialized)).status).toBe(202);
    expect((await session.request(a.url, "ping")).json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
    const called = await session.request(b.url, "tools/call", {
      name: "greet",
      arguments: { name: "x" },
    });
    expect(called.json.result).toEqual({ content: [{ type: "text", text: "Hello, x." }] });
  });

  test("that was ended on one front is over on the other", async () => {
    const [a, b] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    expect(await session.end(b.url)).toBe(204);
    expect((await session.request(a.url, "ping")).status).toBe(404);
    expect((await session.listen(b.url)).status).toBe(404);
    expect(await session.end(a.url)).toBe(404);
  });

  test("lives as long as its token says", async () => {
    const { clock, instances } = await cluster(watchedServer().server, {
      legacy: { sessionLifetime: "1h" },
    });
    const session = await initialize(instances[0].url);
    clock.advance(3_599_000);
    expect((await session.request(instances[1].url, "ping")).status).toBe(200);
    clock.advance(1_000);
    expect((await session.request(instances[1].url, "ping")).status).toBe(404);
  });

  test("that is missing is 400; unknown or altered is 404; an unknown version header is 400", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const { id } = await initialize(a.url);
    expect((await post(a.url, ping, {})).status).toBe(400);
    expect((await post(a.url, ping, { "mcp-session-id": "nonsense" })).status).toBe(404);
    expect((await post(a.url, ping, { "mcp-session-id": `${id.slice(0, -2)}AA` })).status).toBe(
      404,
    );
    const wrong = { "mcp-session-id": id, "mcp-protocol-version": "2024-11-05" };
    expect((await post(a.url, ping, wrong)).status).toBe(400);
    expect((await post(a.url, ping, { ...wrong, "mcp-protocol-version": "1.0" })).status).toBe(400);
  });

  test.each(["2099-01-01", "1.0"])(
    "under the unknown version %s is refused in the words of its era, whatever the method",
    async (version) => {
      const [a] = (await cluster(watchedServer().server)).instances;
      const { id } = await initialize(a.url);
      const headers = { "mcp-session-id": id, "mcp-protocol-version": version };
      const posted = await post(a.url, { jsonrpc: "2.0", id: 1, method: "ping" }, headers);
      const supported = ["2025-11-25", "2025-06-18", "2025-03-26"];
      const error = { code: -32602, data: { supported, requested: version } };
      expect(posted).toMatchObject({ status: 400, json: { id: 1, error } });
      for (const method of ["GET", "DELETE"]) {
        const response = await fetch(a.url, { method, headers });
        expect([response.status, await response.json()]).toMatchObject([400, { error }]);
      }
    },
  );

  test("of one person is unknown to every other", async () => {
    const authenticate = ({ headers }: { headers: Record<string, unknown> }) => {
      const person = String(headers["authorization"]);
      return { caller: { principal: person, person, scopes: [], claims: {} } };
    };
    const [a, b] = (await cluster(watchedServer().server, { authenticate })).instances;
    const issued = await post(a.url, hello("2025-11-25"), { authorization: "ann" });
    const session = sessionOf(issued.headers.get("mcp-session-id") ?? "");
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await session.send(b.url, ping, { authorization: "ann" })).status).toBe(200);
    expect((await session.send(b.url, ping, { authorization: "bob" })).status).toBe(404);
  });
});

describe("what needs no run", () => {
  test("lists come in pages and in the words of the revision", async () => {
    const [a, b] = (await cluster(watchedServer().server, { pageSize: 5 })).instances;
    const session = await initialize(a.url, "2025-03-26");
    const first = await session.request(a.url, "tools/list");
    const tools = first.json.result?.["tools"] as readonly { name: string; title?: string }[];
    expect(tools).toHaveLength(5);
    expect(tools[0]).toMatchObject({ name: "greet", annotations: { title: "Greeting" } });
    expect(tools[0]).not.toHaveProperty("title");
    const cursor = first.json.result?.["nextCursor"];
    const second = await session.request(b.url, "tools/list", { cursor });
    expect(second.json.result?.["tools"]).toHaveLength(3);
    expect(second.json.result).not.toHaveProperty("nextCursor");
    expect((await session.request(b.url, "tools/list", { cursor: "x" })).json.error?.code).toBe(
      -32602,
    );
  });

  test("prompts, resources, templates and completions are those of the modern lane, lowered", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const got = async (method: string, params?: unknown) =>
      (await session.request(a.url, method, params)).json.result;
    expect(await got("prompts/get", { name: "hello", arguments: { who: "me" } })).toEqual({
      messages: [{ role: "user", content: { type: "text", text: "Hello me" } }],
    });
    expect(await got("resources/read", { uri: "test://one" })).toEqual({
      contents: [{ uri: "test://one", text: "first" }],
    });
    expect(await got("resources/read", { uri: "test://item/7" })).toEqual({
      contents: [{ uri: "test://item/7", text: "item 7" }],
    });
    expect(await got("resources/templates/list")).toMatchObject({
      resourceTemplates: [{ name: "item" }],
    });
    const ref = { type: "ref/prompt", name: "hello" };
    expect(await got("completion/complete", { ref, argument: { name: "who", value: "" } })).toEqual(
      {
        completion: { values: ["world", "you"], total: 2, hasMore: false },
      },
    );
  });

  test.each([
    ["no/such", {}, -32601],
    ["tools/call", { name: "nobody" }, -32602],
    ["tools/call", { name: 1 }, -32602],
    ["resources/read", { uri: "test://none" }, -32002],
    ["resources/subscribe", { uri: "test://none" }, -32002],
    ["logging/setLevel", { level: "loud" }, -32602],
  ])("%s %j is refused with %i and HTTP 200", async (method, params, code) => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const answer = await (await initialize(a.url)).request(a.url, method, params);
    expect([answer.status, answer.json.error?.code]).toEqual([200, code]);
  });

  test("wrong arguments are shown to the model on 2025-11-25 and an error before", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const call = { name: "greet", arguments: { name: 7 } };
    const newest = await (await initialize(a.url)).request(a.url, "tools/call", call);
    expect(newest.json.result).toMatchObject({ isError: true });
    const older = await (await initialize(a.url, "2025-06-18")).request(a.url, "tools/call", call);
    expect(older.json.error?.code).toBe(-32602);
  });

  test("a batch of 2025-03-26 is answered as one, and is none on newer revisions", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "greet", arguments: { name: "b" } },
      },
      { jsonrpc: "2.0", id: 3, method: "no/such" },
    ];
    const old = await initialize(a.url, "2025-03-26");
    const answer = (await old.send(a.url, batch)).json as unknown as readonly { id: number }[];
    expect(answer.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    const alone = [{ jsonrpc: "2.0", method: "notifications/initialized" }];
    expect((await old.send(a.url, alone)).status).toBe(202);
    expect((await (await initialize(a.url)).send(a.url, batch)).status).toBe(400);
  });
});
