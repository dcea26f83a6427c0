/** Servers of the handshake era that are found out late, ask, take back and refuse while a call is open. */
import { type Ask, type Host, ProtocolError } from "@reprise/client";
import { expect, test } from "vitest";
import { codeOf, failure } from "./support/failures.ts";
import { accept, formHost } from "./support/hosts.ts";
import { client, textOf, toOthers } from "./support/legacyOpened.ts";
import { confirmParams, legacyServer } from "./support/legacyServer.ts";

test.each([
  [
    "400 and a JSON-RPC error",
    {
      status: 400,
      body: '{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":null}',
    },
  ],
  ["404 and a page", { status: 404, body: "<h1>no</h1>", type: "text/html" }],
  ["405", { status: 405 }],
  [
    "200 and method not found",
    {
      status: 200,
      body: '{"jsonrpc":"2.0","id":"server-discover-probe-1","error":{"code":-32601,"message":"no"}}',
    },
  ],
  [
    "200 and an empty result",
    { status: 200, body: '{"jsonrpc":"2.0","id":"server-discover-probe-1","result":{}}' },
  ],
  [
    "400 and -32022 that names only older revisions",
    {
      status: 400,
      body: '{"jsonrpc":"2.0","id":"server-discover-probe-1","error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}',
    },
  ],
  ["500", { status: 500, body: "boom" }],
  ["200 and another content type", { status: 200, body: "hello", type: "text/plain" }],
])("a server that answers the discovery with %s is initialized", async (_what, discover) => {
  const server = await legacyServer((call) => call.result("done"));
  server.discover = discover;
  const connected = await client(server);
  expect(connected.era).toBe("legacy");
  expect(textOf(await connected.callTool("t"))).toBe("done");
  expect(server.methods().filter((name) => name === "tools/call")).toHaveLength(1);
});

test.each(["2025-11-25", "2025-06-18", "2025-03-26"])(
  "a server that settles on %s is called and answered in it, and hears of it in every header",
  async (revision) => {
    const server = await legacyServer(async (call) => {
      const reply = await call.ask("s", "sampling/createMessage", {
        messages: [{ role: "user", content: { type: "text", text: "?" } }],
        maxTokens: 5,
      });
      call.result(JSON.stringify(toOthers(reply)));
    }, revision);
    const result = {
      role: "assistant" as const,
      content: { type: "text" as const, text: "Paris" },
      model: "m",
    };
    const host: Host = { sample: async () => ({ action: "accept", result }) };
    const connected = await client(server, { host });
    expect(JSON.parse(String(textOf(await connected.callTool("t"))))).toEqual(result);
    const later = server.sent.filter(({ headers }) => headers["mcp-session-id"] !== undefined);
    expect(later.map(({ headers }) => headers["mcp-protocol-version"])).toEqual(
      later.map(() => revision),
    );
  },
);

test("a server that settles on a revision that nobody knows is UNSUPPORTED_VERSION", async () => {
  const server = await legacyServer((call) => call.result("done"), "1999-01-01");
  expect(await codeOf(client(server))).toBe("UNSUPPORTED_VERSION");
});

test("a known era is not asked for, and closing ends the session", async () => {
  const server = await legacyServer((call) => call.result("done"));
  const connected = await client(server, { era: "legacy" });
  await connected.callTool("t");
  await connected.close();
  expect(server.methods()).toEqual([
    "initialize",
    "notifications/initialized",
    "tools/list",
    "tools/call",
    "DELETE",
  ]);
});

test("what the host implements is declared in the handshake, and what it does not is refused without a question", async () => {
  const server = await legacyServer(async (call) => {
    const page = { mode: "url", message: "There", url: "https://x.test/", elicitationId: "e" };
    const replies = [
      await call.ask("url", "elicitation/create", page),
      await call.ask("sample", "sampling/createMessage", {
        messages: [{ role: "user", content: { type: "text", text: "?" } }],
        maxTokens: 1,
      }),
      await call.ask("roots", "roots/list"),
      await call.ask("nested", "elicitation/create", {
        message: "Deep",
        requestedSchema: { type: "object", properties: { a: { type: "object" } } },
      }),
    ];
    call.result(JSON.stringify(replies.map((body) => (toOthers(body) as { code?: number }).code)));
  });
  const host = formHost(() => accept({ confirm: true }));
  const connected = await client(server, { host });
  const { body } = await server.seen((sent) => sent.body["method"] === "initialize");
  expect(body["params"]).toMatchObject({
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: { form: {} } },
  });
  expect(Object.keys((body["params"] as { capabilities: object }).capabilities)).toEqual([
    "elicitation",
  ]);
  expect(textOf(await connected.callTool("t"))).toBe("[-32602,-32601,-32601,-32602]");
  expect(host.shown).toHaveLength(0);
});

test("several questions that are open at once come to the person one at a time, and each answer goes to its own", async () => {
  const server = await legacyServer(async (call) => {
    const replies = await Promise.all(
      ["a", "b", "c"].map((id) => call.ask(id, "elicitation/create", confirmParams(`${id}?`))),
    );
    call.result(JSON.stringify(replies.map(toOthers)));
  });
  let atOnce = 0;
  const host = formHost(async ({ message }) => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
    return message === "b?" ? { action: "decline" } : accept({ confirm: message === "a?" });
  });
  const outcome = await (await client(server, { host })).callTool("t");
  expect(JSON.parse(String(textOf(outcome)))).toEqual([
    { action: "accept", content: { confirm: true } },
    { action: "decline" },
    { action: "accept", content: { confirm: false } },
  ]);
  expect(host.shown.map(({ ask, context }) => [ask.key, context.round, context.canWait])).toEqual([
    ["confirm", 1, false],
    ["confirm-2", 1, false],
    ["confirm-3", 1, false],
  ]);
});

test("questions of calls that are open side by side come with the call on whose stream they came", async () => {
  const both: (() => void)[] = [];
  const server = await legacyServer(async (call) => {
    // Neither asks before both are open.
    await new Promise<void>((resolve) => {
      both.push(resolve);
      if (both.length === 2) for (const go of both) go();
    });
    const { name } = call.params as { readonly name: string };
    const reply = await call.ask(name, "elicitation/create", confirmParams(`${name}?`));
    call.result(`${name} ${JSON.stringify(toOthers(reply))}`);
  });
  const host = formHost(({ message }, { target }) => accept({ confirm: message === `${target}?` }));
  const connected = await client(server, { host });
  const outcomes = await Promise.all([connected.callTool("one"), connected.callTool("two")]);
  const said = '{"action":"accept","content":{"confirm":true}}';
  expect(outcomes.map(textOf)).toEqual([`one ${said}`, `two ${said}`]);
  expect(host.shown.map(({ ask }) => ask.key)).toEqual(["confirm", "confirm"]);
});

test("a question that the server takes back goes from the screen, nothing is sent for it, and the next one is put", async () => {
  const server = await legacyServer(async (call) => {
    call.send({ id: "first", method: "elicitation/create", params: confirmParams("first?") });
    await shown;
    call.send({ method: "notifications/cancelled", params: { requestId: "first" } });
    const second = await call.ask("second", "elicitation/create", confirmParams("second?"));
    call.result(JSON.stringify(toOthers(second)));
  });
  let show = (): void => undefined;
  const shown = new Promise<void>((resolve) => {
    show = resolve;
  });
  const host = formHost(async ({ message }, { signal }) => {
    if (message === "second?") return { action: "decline" };
    show();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    // A host that was slow to hear of it: its answer comes too late, and must not be sent.
    return accept({ confirm: true });
  });
  const outcome = await (await client(server, { host })).callTool("t");
  expect(textOf(outcome)).toBe('{"action":"decline"}');
  expect(server.sent.map(({ body }) => body["id"])).not.toContain("first");
});

test.each([
  ["says later", async () => ({ action: "later" as const }), "CALL_CANNOT_WAIT"],
  ["answers what does not fit", async () => accept({ confirm: "perhaps" }), "ANSWER_UNUSABLE"],
])(
  "a host that %s ends the call with a cancellation, and the question gets no answer",
  async (_what, form, code) => {
    const server = await legacyServer((call) =>
      call.send({ id: "q", method: "elicitation/create", params: confirmParams("Sure?") }),
    );
    const connected = await client(server, { host: { form } });
    expect(await codeOf(connected.callTool("t"))).toBe(code);
    await server.seen(({ body }) => body["method"] === "notifications/cancelled");
    expect(server.methods()).not.toContain("response");
  },
);

test("a caller's abort cancels the call on the server and takes its question from the screen", async () => {
  const server = await legacyServer((call) =>
    call.send({ id: "q", method: "elicitation/create", params: confirmParams("Sure?") }),
  );
  const stop = new AbortController();
  const host = formHost(async (_ask, { signal }) => {
    setImmediate(() => stop.abort(new Error("enough")));
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return { action: "later" };
  });
  const call = (await client(server, { host })).callTool("t", {}, { signal: stop.signal });
  expect(await failure(call)).toMatchObject({ message: "enough" });
  await server.seen(({ body }) => body["method"] === "notifications/cancelled");
});

test("a refused sampling question is answered with -1, and the call goes on", async () => {
  const server = await legacyServer(async (call) => {
    const reply = await call.ask("s", "sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: "?" } }],
      maxTokens: 5,
    });
    call.result(JSON.stringify(toOthers(reply)));
  });
  const host: Host = { sample: async () => ({ action: "refuse" }) };
  const outcome = await (await client(server, { host })).callTool("t");
  expect(JSON.parse(String(textOf(outcome)))).toMatchObject({ code: -1 });
});

test("a visited page that the server calls complete is told to the host once, and an unknown one not at all", async () => {
  const server = await legacyServer(async (call) => {
    const done = (elicitationId: string): void =>
      call.send({ method: "notifications/elicitation/complete", params: { elicitationId } });
    const page = { mode: "url", message: "Pay", url: "https://pay.test/1", elicitationId: "e-1" };
    await call.ask("u", "elicitation/create", page);
    done("unknown");
    done("e-1");
    done("e-1");
    call.result("paid");
  });
  const completed: Ask[] = [];
  const host: Host = {
    url: async () => ({ action: "accept" }),
    completed: (ask) => void completed.push(ask),
  };
  expect(textOf(await (await client(server, { host })).callTool("t"))).toBe("paid");
  expect(completed).toMatchObject([{ kind: "url", elicitationId: "e-1", key: "elicitUrl" }]);
});

test("a refusal that names pages (-32042) shows them and calls again; declined, it stands", async () => {
  let calls = 0;
  const server = await legacyServer((call) => {
    calls += 1;
    if (calls === 2) return call.result("done");
    const elicitations = [
      { mode: "url", message: "Connect", url: "https://x.test/connect", elicitationId: "c" },
    ];
    call.send({ id: call.id, error: { code: -32_042, message: "first", data: { elicitations } } });
    call.end();
  });
  const shown: string[] = [];
  let action: "accept" | "decline" = "accept";
  const host: Host = {
    url: async ({ url }) => {
      shown.push(url.href);
      return { action };
    },
  };
  const connected = await client(server, { host });
  expect(textOf(await connected.callTool("t"))).toBe("done");
  action = "decline";
  calls = 0;
  const refused = await failure(connected.callTool("t"));
  expect(refused).toBeInstanceOf(ProtocolError);
  expect(refused).toMatchObject({ code: -32_042 });
  expect(calls).toBe(1);
  expect(shown).toEqual(["https://x.test/connect", "https://x.test/connect"]);
});

test("a server that asks without end is given up after maxInputRounds", async () => {
  const server = await legacyServer(async (call) => {
    for (let round = 1; ; round += 1) {
      await call.ask(`q${round}`, "elicitation/create", confirmParams("Again?"));
    }
  });
  const host = formHost(() => accept({ confirm: true }));
  const connected = await client(server, { host, maxInputRounds: 3 });
  expect(await codeOf(connected.callTool("t"))).toBe("TOO_MANY_ROUNDS");
  expect(host.shown).toHaveLength(3);
});

test("a saved call is not sent to a server of the handshake era, and nothing is stored there", async () => {
  const server = await legacyServer((call) => call.result("done"));
  let stored = 0;
  const connected = await client(server, {
    onChange: async () => {
      stored += 1;
    },
  });
  await connected.callTool("t");
  expect(stored).toBe(0);
  const saved = {
    format: "reprise.call" as const,
    version: 1 as const,
    url: server.url,
    request: { method: "tools/call" as const, params: { name: "t", arguments: {} } },
    idempotencyKey: "k".repeat(32),
    round: 0,
  };
  expect(await codeOf(connected.resume(saved))).toBe("CALL_CANNOT_WAIT");
  expect(server.methods().filter((name) => name === "tools/call")).toHaveLength(1);
});
