/** Who is let in: Host, Origin, CORS, authentication, and the address that is bound. */
import { RepriseError } from "@reprise/errors";
import { createHttpServer, listen } from "@reprise/front";
import type { FastifyBaseLogger } from "fastify";
import { describe, expect, test, vi } from "vitest";
import { fakeRuntime } from "./support/fakeRuntime.ts";
import { type McpRequest, serve, wire } from "./support/requests.ts";

const call: McpRequest = { method: "tools/call", params: { name: "greet", arguments: {} } };

function silentLogger(warn: (cause: object, message: string) => void): FastifyBaseLogger {
  const logger = {
    level: "warn",
    fatal: () => {},
    error: warn,
    warn,
    info: () => {},
    debug: () => {},
    trace: () => {},
    silent: () => {},
    child: () => logger,
  } as unknown as FastifyBaseLogger;
  return logger;
}

describe("Host and Origin", () => {
  test.each([
    "localhost",
    "localhost:3000",
    "127.0.0.1:80",
    "127.9.9.9",
    "[::1]:3000",
    "LOCALHOST",
    "mcp.example.com",
    "mcp.example.com:1",
    "pinned.example.com:8443",
  ])("Host %s is allowed", async (host) => {
    const options = {
      runtime: fakeRuntime(),
      allowedHosts: ["MCP.example.com", "pinned.example.com:8443"],
    };
    expect((await serve(options).call({ ...call, headers: { host } })).status).toBe(200);
  });

  test.each([
    "evil.example.com",
    "localhost.evil.com",
    "localhost:3000@evil.com",
    "127.0.0.1.evil.com",
    "127.0.0.1.nip.io",
    "[::1].evil.com",
    "0.0.0.0",
    "pinned.example.com",
    "pinned.example.com:443",
    "x.mcp.example.com",
  ])("Host %j is refused", async (host) => {
    const options = {
      runtime: fakeRuntime(),
      allowedHosts: ["mcp.example.com", "pinned.example.com:8443"],
    };
    expect((await serve(options).call({ ...call, headers: { host } })).status).toBe(403);
  });

  test.each([
    "http://evil.example.com",
    "http://localhost.evil.com",
    "http://localhost@evil.com",
    "http://localhost/path",
    "https://app.example.com.evil.com",
    "https://app.example.com:444",
    "http://app.example.com",
    "file://localhost",
    "null",
    "",
  ])("Origin %j is refused, although the Host is right", async (origin) => {
    const options = { runtime: fakeRuntime(), allowedOrigins: ["https://app.example.com"] };
    const answer = await serve(options).call({ ...call, headers: { origin } });
    expect(answer.status).toBe(403);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("the log names the cause and the setting, the response does not", async () => {
    const warn = vi.fn();
    const client = serve({ runtime: fakeRuntime() }, silentLogger(warn));
    const answer = await client.call({ ...call, headers: { host: "evil.example.com" } });
    expect(warn).toHaveBeenCalledWith(
      { setting: "allowedHosts", value: "evil.example.com" },
      expect.stringContaining("allowedHosts"),
    );
    expect(answer.text).not.toContain("evil");
  });

  test("a page of an allowed origin may read the response and its headers", async () => {
    const origin = "https://app.example.com";
    const { call: send } = serve({ runtime: fakeRuntime(), allowedOrigins: [origin] });
    const answer = await send({ ...call, headers: { origin } });
    expect(answer.headers["access-control-allow-origin"]).toBe(origin);
    expect(answer.headers["vary"]).toBe("Origin");
    expect(answer.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
  });

  test("a preflight allows the headers that MCP needs and no others", async () => {
    const { app } = serve({ runtime: fakeRuntime() });
    const answer = await app.inject({
      method: "OPTIONS",
      url: "/mcp",
      headers: {
        host: "localhost",
        origin: "http://localhost:6274",
        "access-control-request-method": "POST",
        "access-control-request-headers":
          "content-type, Mcp-Method, mcp-param-region, x-evil, authorization",
      },
    });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers["access-control-allow-headers"]).toBe(
      "content-type, mcp-method, mcp-param-region, authorization",
    );
    expect(answer.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE");
  });

  test("a preflight allows the header of an API key where it is configured, and only that", async () => {
    const { app } = serve({ runtime: fakeRuntime(), allowedHeaders: ["X-Api-Key"] });
    const answer = await app.inject({
      method: "OPTIONS",
      url: "/mcp",
      headers: {
        host: "localhost",
        origin: "http://localhost:6274",
        "access-control-request-method": "POST",
        "access-control-request-headers": "last-event-id, x-api-key, x-evil",
      },
    });
    expect(answer.headers["access-control-allow-headers"]).toBe("last-event-id, x-api-key");
  });

  test("a preflight of a foreign origin is refused", async () => {
    const { app } = serve({ runtime: fakeRuntime() });
    const headers = { host: "localhost", origin: "http://evil.example.com" };
    expect((await app.inject({ method: "OPTIONS", url: "/mcp", headers })).statusCode).toBe(403);
  });

  test("probes answer whatever the Host, metrics do not", async () => {
    const { app } = serve({ runtime: fakeRuntime() });
    const headers = { host: "10.1.2.3" };
    expect((await app.inject({ url: "/healthz", headers })).statusCode).toBe(200);
    expect((await app.inject({ url: "/metrics", headers })).statusCode).toBe(403);
  });
});

describe("authentication", () => {
  test("a refusal goes out with its status and challenge before the body is read", async () => {
    const { post } = serve({
      runtime: fakeRuntime(),
      authenticate: async () => ({
        refusal: new RepriseError("UNAUTHORIZED", "No token."),
        headers: { "WWW-Authenticate": "Bearer" },
      }),
    });
    const answer = await post("not even JSON", { "content-type": "application/json" });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  });

  test("an authenticator that throws lets nobody in", async () => {
    const runtime = fakeRuntime();
    const { call: send } = serve({
      runtime,
      authenticate: () => Promise.reject(new Error("down")),
    });
    expect((await send(call)).status).toBe(401);
    expect(runtime.executed).toHaveLength(0);
  });

  test.each(["0.0.0.0", "::", "192.0.2.7"])(
    "binding %s without auth does not start",
    async (host) => {
      await expect(listen({ runtime: fakeRuntime(), host, port: 0 })).rejects.toMatchObject({
        code: "CONFIG_INVALID",
      });
    },
  );
});

describe("behind a proxy", () => {
  const forwarded = { "x-forwarded-host": "mcp.example.com", host: "10.0.0.7" };
  const options = { runtime: fakeRuntime(), allowedHosts: ["mcp.example.com"] };

  test("a trusted one tells which host was asked for", async () => {
    const app = createHttpServer({ ...options, trustProxy: true });
    const { headers, body } = wire({ ...call, headers: forwarded });
    const answer = await app.inject({ method: "POST", url: "/mcp", headers, payload: body });
    expect(answer.statusCode).toBe(200);
    await app.close();
  });

  test("nobody else does", async () => {
    const app = createHttpServer(options);
    const { headers, body } = wire({ ...call, headers: forwarded });
    const answer = await app.inject({ method: "POST", url: "/mcp", headers, payload: body });
    expect(answer.statusCode).toBe(403);
    await app.close();
  });
});

test("a plugin that finds itself on an exposed address without auth refuses everything, and says so", async () => {
  const complaint = vi.fn();
  const { app, call: send } = serve({ runtime: fakeRuntime() }, silentLogger(complaint));
  // Listening for real on such an address is nothing a test may do.
  vi.spyOn(app, "addresses").mockReturnValue([{ address: "0.0.0.0", family: "IPv4", port: 1 }]);
  await app.listen({ host: "127.0.0.1", port: 0 });
  expect((await send(call)).status).toBe(403);
  expect(complaint).toHaveBeenCalledWith(
    expect.objectContaining({ address: "0.0.0.0" }),
    expect.stringContaining("authenticate"),
  );
});

test("a compressed body is refused by its name, not as broken text", async () => {
  const { call: send } = serve({ runtime: fakeRuntime() });
  const answer = await send({ ...call, headers: { "content-encoding": "gzip" } });
  expect(answer.status).toBe(415);
  expect(answer.message.error).toMatchObject({
    message: "The body must come without a Content-Encoding.",
  });
  expect((await send({ ...call, headers: { "content-encoding": "Identity" } })).status).toBe(200);
});

test("a preflight is answered whatever stands in its body", async () => {
  const { app } = serve({ runtime: fakeRuntime() });
  const headers = {
    host: "localhost",
    origin: "http://localhost:5173",
    "content-type": "application/json",
  };
  const answer = await app.inject({ method: "OPTIONS", url: "/mcp", headers, payload: "{" });
  expect(answer.statusCode).toBe(204);
  expect(answer.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE");
});

test("a server of one's own serves its path with a slash behind it too", async () => {
  const app = createHttpServer({ runtime: fakeRuntime() });
  const { headers, body } = wire(call);
  const answer = await app.inject({ method: "POST", url: "/mcp/", headers, payload: body });
  expect(answer.statusCode).toBe(200);
  await app.close();
});

test("what a client gets wrong in a completion is told to it, not to the log", async () => {
  const complaint = vi.fn();
  const runtime = fakeRuntime({ prompts: [{ name: "p" }], completions: {} });
  const { call: send } = serve({ runtime }, silentLogger(complaint));
  const answer = await send({ method: "completion/complete", params: { ref: 5 } });
  expect(answer.message.error).toMatchObject({ code: -32602 });
  expect(complaint).not.toHaveBeenCalled();
});
