/**
 * Authentication by tokens, without a network: where an issuer's keys are looked for, what options are refused, and what the
 * hook for gateways and API keys may do.
 */
import { RepriseError } from "@reprise/errors";
import { type BearerAuthOptions, createBearerAuth, type FetchJson } from "@reprise/front";
import { describe, expect, test } from "vitest";
import { fakeRuntime } from "./support/fakeRuntime.ts";
import { serve } from "./support/requests.ts";

const resource = "https://mcp.example.com/mcp";
const call = { method: "tools/call", params: { name: "greet", arguments: {} } };

/** A network of documents by URL. Where there is none, it answers 404; `undefined` is an issuer that is away. */
function network(documents: Readonly<Record<string, unknown>>): {
  readonly fetchJson: FetchJson;
  readonly asked: string[];
} {
  const asked: string[] = [];
  return {
    asked,
    async fetchJson(url) {
      asked.push(url);
      const isThere = url in documents;
      return { status: isThere ? 200 : 404, body: isThere ? documents[url] : undefined };
    },
  };
}

const bearer = (options: Partial<BearerAuthOptions> = {}) =>
  createBearerAuth({ resource, issuers: "https://issuer.example.com", ...options });

describe("an issuer's metadata", () => {
  test("is looked for in the order of MCP, for an issuer with a path", async () => {
    const { fetchJson, asked } = network({});
    await bearer({ issuers: "https://auth.example.com/tenant1", fetchJson }).warmUp();
    expect(asked).toEqual([
      "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
      "https://auth.example.com/.well-known/openid-configuration/tenant1",
      "https://auth.example.com/tenant1/.well-known/openid-configuration",
    ]);
  });

  test.each(["https://auth.example.com", "https://auth.example.com/"])(
    "is looked for in the order of MCP, for the issuer %s without one",
    async (issuers) => {
      const { fetchJson, asked } = network({});
      await bearer({ issuers, fetchJson }).warmUp();
      expect(asked).toEqual([
        "https://auth.example.com/.well-known/oauth-authorization-server",
        "https://auth.example.com/.well-known/openid-configuration",
      ]);
    },
  );

  test.each([
    ["names another issuer", { issuer: "https://honest.example.com", jwks_uri: "https://a.b/k" }],
    [
      "differs in the last slash",
      { issuer: "https://issuer.example.com/", jwks_uri: "https://a.b/k" },
    ],
    [
      "has its keys at a plain address",
      { issuer: "https://issuer.example.com", jwks_uri: "http://a.b/k" },
    ],
    ["names no keys", { issuer: "https://issuer.example.com" }],
    ["is no object", "metadata"],
  ])("that %s is not used", async (_what, document) => {
    const url = "https://issuer.example.com/.well-known/oauth-authorization-server";
    const { fetchJson, asked } = network({ [url]: document, "https://a.b/k": { keys: [] } });
    await bearer({ fetchJson }).warmUp();
    expect(asked).toEqual([url, "https://issuer.example.com/.well-known/openid-configuration"]);
  });
});

test.each([
  ["resource", { resource: "http://mcp.example.com/mcp" }],
  ["resource", { resource: "https://mcp.example.com/mcp#here" }],
  ["resource", { resource: "https://user:secret@mcp.example.com/mcp" }],
  ["resource", { resource: "https://mcp.example.com/mcp?tenant=1" }],
  ["resource", { resource: "mcp.example.com" }],
  ["issuers", { issuers: "http://issuer.example.com" }],
  ["issuers", { issuers: "https://issuer.example.com?tenant=1" }],
  ["authorizationServers", { issuers: [] }],
  ["audiences", { audiences: [] }],
  ["requiredScopes", { requiredScopes: ["two words"] }],
  ["requiredScopes", { requiredScopes: ['a"b'] }],
  ["impliedScopes", { impliedScopes: { write: ["two words"] } }],
  ["clockTolerance", { clockTolerance: -1 }],
] as const)("an unfit %s is refused at the start: %j", (name, options) => {
  expect(() => bearer(options as Partial<BearerAuthOptions>)).toThrow(name);
  expect(() => bearer(options as Partial<BearerAuthOptions>)).not.toThrow("secret");
});

describe("the Authorization header", () => {
  const headersOf = async (authorization: string): Promise<string | undefined> => {
    const { fetchJson } = network({});
    const { authenticate, protectedResource } = bearer({ fetchJson });
    const { call: send } = serve({ runtime: fakeRuntime(), authenticate, protectedResource });
    const answer = await send({ ...call, headers: { authorization } });
    expect(answer.status).toBe(401);
    return answer.headers["www-authenticate"];
  };

  test.each(["", "Basic YTpi", "Bearer", "Bearer ", "Bearertoken"])(
    '"%s" brings no token, which is no error of one',
    async (authorization) => {
      expect(await headersOf(authorization)).not.toContain("error=");
    },
  );

  test.each(["Bearer a", "bearer a b", "BEARER  \u00e4"])(
    '"%s" brings one that is not valid',
    async (authorization) => {
      expect(await headersOf(authorization)).toContain('error="invalid_token"');
    },
  );
});

describe("a hook of one's own", () => {
  const protectedResource = {
    resource,
    authorizationServers: ["https://issuer.example.com"],
  };
  const challenge =
    'Bearer error="invalid_token", error_description="The access token is not valid.", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';

  test("gets the challenge of the protected resource for a 401 that has none", async () => {
    const { call: send } = serve({
      runtime: fakeRuntime(),
      protectedResource,
      authenticate: () => ({ refusal: new RepriseError("UNAUTHORIZED", "No.") }),
    });
    const answer = await send(call);
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, challenge]);
  });

  test("that throws an error of ours refuses with it", async () => {
    const { call: send } = serve({
      runtime: fakeRuntime(),
      authenticate: () => {
        throw new RepriseError("AUTH_UNAVAILABLE", "The directory is away.");
      },
    });
    expect((await send(call)).status).toBe(503);
  });

  test("has its scopes enforced with a challenge, without a protected resource too", async () => {
    const runtime = fakeRuntime({
      tools: [{ name: "greet", scopes: ["greet"] }],
      prompts: [{ name: "brief", scopes: ["brief"] }],
      completions: { city: () => ["Bern"] },
    });
    const { call: send } = serve({
      runtime,
      authenticate: () => ({ caller: { principal: "p", person: "p", scopes: [], claims: {} } }),
    });
    const refused = await send(call);
    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([
      403,
      'Bearer error="insufficient_scope", error_description="The access token lacks a scope.", scope="greet"',
    ]);
    const suggested = await send({
      method: "completion/complete",
      params: {
        ref: { type: "ref/prompt", name: "brief" },
        argument: { name: "city", value: "B" },
      },
    });
    expect(suggested.headers["www-authenticate"]).toContain('scope="brief"');
    expect(runtime.executed).toEqual([]);
  });

  test("is needed where a protected resource is published", () => {
    expect(() => serve({ runtime: fakeRuntime(), protectedResource })).toThrow("authenticate");
  });
});

test("the host of the public URL is an allowed Host", async () => {
  const { authenticate, protectedResource } = bearer({ fetchJson: network({}).fetchJson });
  const { call: send } = serve({ runtime: fakeRuntime(), authenticate, protectedResource });
  const statusOf = async (host: string): Promise<number> =>
    (await send({ ...call, headers: { host } })).status;
  expect(await statusOf("mcp.example.com")).toBe(401);
  expect(await statusOf("other.example.com")).toBe(403);
});
