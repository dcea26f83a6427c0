/**
 * The official client finds out by itself where to get a token, gets it, and steps up: metadata of the front, metadata of
 * the issuer, registration, authorization code with PKCE, all against a real authorization server.
 */
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { createBearerAuth, defineServer, tool } from "reprise";
import { expect, onTestFinished, test } from "vitest";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../support/authorizationServer.ts";
import { freePort } from "../support/redisServer.ts";
import { serveForTest } from "../support/temporary.ts";

const redirectUrl = "http://127.0.0.1/callback";

/** Keeps what the flow needs, and signs a person in where a browser would open. */
class ScriptedPerson implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata = {
    client_name: "scripted",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native" as const,
  };
  /** Where the browser was sent, in order. */
  readonly visited: URL[] = [];
  readonly #server: AuthorizationServer;
  readonly #name: string;
  #client: Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
  #tokens: Awaited<ReturnType<OAuthClientProvider["tokens"]>>;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;
  /** What the authorization server sent back with the last sign-in. */
  returned = new URLSearchParams();

  constructor(server: AuthorizationServer, name: string) {
    this.#server = server;
    this.#name = name;
  }

  clientInformation(): Awaited<ReturnType<OAuthClientProvider["clientInformation"]>> {
    return this.#client;
  }

  saveClientInformation(given: NonNullable<ReturnType<ScriptedPerson["clientInformation"]>>): void {
    this.#client = given;
  }

  tokens(): Awaited<ReturnType<OAuthClientProvider["tokens"]>> {
    return this.#tokens;
  }

  saveTokens(given: NonNullable<ReturnType<ScriptedPerson["tokens"]>>): void {
    this.#tokens = given;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.visited.push(url);
    this.returned = (await this.#server.signIn(url, this.#name)).searchParams;
  }
}

/** Without the one for refresh tokens, which the client adds where the issuer has it. */
const askedScopes = ({ searchParams }: URL): readonly string[] =>
  (searchParams.get("scope") ?? "")
    .split(" ")
    .filter((scope) => scope !== "offline_access")
    .toSorted();

test("the official client registers, signs a person in, calls, and steps up for a tool that needs more", async () => {
  const issuer = await startAuthorizationServer(["notes:read", "notes:write"]);
  onTestFinished(() => issuer.stop());
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const server = defineServer({
    name: "notes",
    tools: [
      tool({
        name: "whoami",
        description: "Says who calls",
        effects: "repeatable",
        handler: (_args, ctx) => ctx.caller.person,
      }),
      tool({
        name: "write_note",
        description: "Writes a note",
        effects: "repeatable",
        scopes: ["notes:write"],
        handler: (_args, ctx) => ctx.caller.scopes.join(" "),
      }),
    ],
  });
  const { authenticate, protectedResource } = createBearerAuth({
    resource,
    issuers: issuer.issuer,
    requiredScopes: ["notes:read"],
  });
  // Clients keep lists for as long as they are told, whatever token they have by then.
  const settings = { port, store: "none", listTtlMs: 0 } as const;
  await serveForTest(server, { ...settings, authenticate, protectedResource });

  const person = new ScriptedPerson(issuer, "ada");
  const begin = (): { client: Client; transport: StreamableHTTPClientTransport } => {
    const client = new Client(
      { name: "official-client", version: "1.0.0" },
      { versionNegotiation: { mode: "auto" } },
    );
    const transport = new StreamableHTTPClientTransport(new URL(resource), {
      authProvider: person,
    });
    onTestFinished(() => client.close());
    return { client, transport };
  };

  const refused = begin();
  await expect(refused.client.connect(refused.transport)).rejects.toBeInstanceOf(UnauthorizedError);
  expect(person.visited.map(askedScopes)).toEqual([["notes:read"]]);
  expect(person.visited[0]?.searchParams.get("resource")).toBe(resource);
  await refused.transport.finishAuth(person.returned);

  const { client, transport } = begin();
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["whoami"]);
  const who = await client.callTool({ name: "whoami", arguments: {} });
  expect(who.content).toEqual([{ type: "text", text: JSON.stringify([issuer.issuer, "ada"]) }]);

  await expect(client.callTool({ name: "write_note", arguments: {} })).rejects.toBeInstanceOf(
    UnauthorizedError,
  );
  expect(person.visited.slice(1).map(askedScopes)).toEqual([["notes:read", "notes:write"]]);
  await transport.finishAuth(person.returned);
  const written = await client.callTool({ name: "write_note", arguments: {} });
  expect(written.content).toEqual([{ type: "text", text: "notes:read notes:write" }]);
  // What the token allows now is listed now.
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    "whoami",
    "write_note",
  ]);
});
