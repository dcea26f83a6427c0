/**
 * What a front publishes for clients that look for its authorization server: RFC 9728, at every address that they try.
 */
import { RepriseError } from "@reprise/errors";
import type { FrontOptions } from "@reprise/front";
import { describe, expect, test } from "vitest";
import { fakeRuntime } from "./support/fakeRuntime.ts";
import { serve } from "./support/requests.ts";

const resource = "https://mcp.example.com/public/mcp";
const issuer = "https://issuer.example.com";
const wellKnown = "/.well-known/oauth-protected-resource";

const options = (): FrontOptions => ({
  runtime: fakeRuntime({
    tools: [{ name: "write", scopes: ["notes:write"] }, { name: "greet" }],
    prompts: [{ name: "brief", scopes: ["notes:brief"] }],
  }),
  protectedResource: {
    resource,
    authorizationServers: [issuer],
    requiredScopes: ["notes:read"],
  },
  authenticate: () => ({ refusal: new RepriseError("UNAUTHORIZED", "No.") }),
});

describe("the metadata", () => {
  test.each(["", "/mcp", "/public/mcp"])(
    "is at /.well-known/oauth-protected-resource%s, for pages of any origin and without a token",
    async (path) => {
      const { app } = serve(options());
      const headers = { host: "evil.example.com", origin: "https://somewhere.example.com" };
      const response = await app.inject({ url: `${wellKnown}${path}`, headers });
      expect(response.statusCode).toBe(200);
      // Nothing of the request's Host is in it.
      expect(response.json()).toEqual({
        resource,
        authorization_servers: [issuer],
        scopes_supported: ["notes:read", "notes:brief", "notes:write"],
        bearer_methods_supported: ["header"],
        resource_name: "fixture-server",
      });
      expect(response.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "cache-control": "public, max-age=3600",
        "content-type": "application/json; charset=utf-8",
      });
    },
  );

  test("may be fetched with the protocol's header by a page, which asks first", async () => {
    const { app } = serve(options());
    const response = await app.inject({
      method: "OPTIONS",
      url: `${wellKnown}/mcp`,
      headers: {
        host: "localhost",
        origin: "https://somewhere.example.com",
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version",
      },
    });
    expect(response.statusCode).toBe(204);
    expect(response.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "mcp-protocol-version",
      "access-control-allow-methods": "GET",
    });
  });

  test("is not there where nothing is to be published", async () => {
    const { app } = serve({ runtime: fakeRuntime() });
    expect((await app.inject({ url: wellKnown })).statusCode).toBe(404);
  });
});

test("a challenge names the public URL whatever Host the request came with", async () => {
  const { call } = serve({ ...options(), allowedHosts: ["evil.example.com"] });
  const answer = await call({
    method: "tools/call",
    params: { name: "greet" },
    headers: { host: "evil.example.com", "x-forwarded-host": "evil.example.com" },
  });
  expect(answer.headers["www-authenticate"]).toContain(
    `resource_metadata="https://mcp.example.com${wellKnown}/public/mcp", scope="notes:read"`,
  );
});
