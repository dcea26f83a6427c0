/**
 * A real authorization server (oidc-provider) on a free loopback port, and a scripted browser that signs people in.
 *
 * Access tokens are JWTs (RFC 9068) for the resource that a client asks for (RFC 8707); clients are public and use PKCE.
 * Whatever password is typed is right. The server can be stopped, started on the same port, and given new keys.
 */
import { createHash, generateKeyPairSync, type JsonWebKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Configuration, Provider } from "oidc-provider";

/** Clients that are registered from the start. Others register themselves (RFC 7591). */
const registeredClients = ["host-a", "host-b"] as const;

const redirectUri = "http://127.0.0.1/callback";
/** Of everything that it gives out: longer than a front uses keys of an issuer that is away. */
const lifetimeSeconds = 7200;

const storedKinds = ["Session", "Grant", "Interaction", "AccessToken", "RefreshToken", "IdToken"];

/** Whose token, for what. */
export interface TokenRequest {
  readonly person: string;
  readonly resource: string;
  /** Separated by spaces. Default none. */
  readonly scope?: string;
  readonly client?: (typeof registeredClients)[number];
}

/** What the token endpoint gives. */
interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A running authorization server. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** Path of every request that it got, in order. */
  readonly requests: readonly string[];
  /** Signs a person in at an authorization URL and says yes; where the browser is sent at the end. */
  signIn(authorizationUrl: URL, person: string): Promise<URL>;
  /** The whole authorization code flow of a registered client. */
  tokens(request: TokenRequest): Promise<Tokens>;
  refresh(request: TokenRequest, refreshToken: string): Promise<Tokens>;
  /** Signs with a new key from now on; the old one is gone from its key set. */
  rotateKeys(): void;
  /** Refuses connections until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts one. `scopes` are those of every resource. */
export async function startAuthorizationServer(
  scopes: readonly string[],
): Promise<AuthorizationServer> {
  const requests: string[] = [];
  let answer: ReturnType<Provider["callback"]> | undefined;
  const listen = async (port: number): Promise<Server> => {
    const listening = createServer((request, response) => {
      requests.push(request.url ?? "");
      // koa answers every failure itself; what is left is a bug, and ends the test run.
      void answer?.(request, response);
    });
    listening.listen(port, "127.0.0.1");
    await once(listening, "listening");
    return listening;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const rotateKeys = (): void => {
    answer = new Provider(issuer, configuration(scopes.join(" "))).callback();
  };
  rotateKeys();

  const tokenEndpoint = async (parameters: Readonly<Record<string, string>>): Promise<Tokens> => {
    const response = await fetch(`${issuer}/token`, {
      method: "POST",
      body: new URLSearchParams(parameters),
    });
    const body = (await response.json()) as Readonly<Record<string, string>>;
    const { access_token: accessToken, refresh_token: refreshToken } = body;
    if (accessToken === undefined || refreshToken === undefined) {
      throw new Error(`no tokens: ${JSON.stringify(body)}`);
    }
    return { accessToken, refreshToken };
  };

  return {
    issuer,
    requests,
    signIn,
    rotateKeys,
    async tokens({ person, resource, scope = "", client = "host-a" }) {
      const verifier = randomBytes(32).toString("base64url");
      const url = new URL(`${issuer}/auth`);
      url.search = new URLSearchParams({
        ...{ client_id: client, response_type: "code", redirect_uri: redirectUri, resource },
        scope: `openid ${scope}`.trim(),
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
      }).toString();
      const code = (await signIn(url, person)).searchParams.get("code") ?? "";
      return tokenEndpoint({
        ...{ grant_type: "authorization_code", client_id: client, redirect_uri: redirectUri },
        ...{ code, code_verifier: verifier, resource },
      });
    },
    refresh({ client = "host-a", resource }, refreshToken) {
      return tokenEndpoint({
        ...{ grant_type: "refresh_token", client_id: client },
        ...{ refresh_token: refreshToken, resource },
      });
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
    async start() {
      server = await listen(port);
    },
  };
}

function configuration(scope: string): Configuration {
  return {
    clients: registeredClients.map((client) => ({
      client_id: client,
      token_endpoint_auth_method: "none",
      application_type: "native",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    })),
    // Clients that register themselves name the scopes that they want.
    scopes: ["openid", "offline_access", ...scope.split(" ")],
    // A client that registers itself may ask for more scopes later: what it named then is no limit.
    extraClientMetadata: {
      properties: ["scope_limit"],
      validator(_context, _key, _value, metadata) {
        delete metadata.scope;
      },
    },
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString("hex")] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    ttl: Object.fromEntries(storedKinds.map((kind) => [kind, lifetimeSeconds])),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => ({
          scope,
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: lifetimeSeconds,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}

function signingKey(): JsonWebKey {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const kid = randomBytes(8).toString("hex");
  return { ...privateKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
}

/** A browser with nothing but cookies: follows redirects, fills in the two forms, and stops at the client's address. */
async function signIn(authorizationUrl: URL, person: string): Promise<URL> {
  const { origin } = authorizationUrl;
  const cookies = new Map<string, string>();
  const visit = async (url: URL, form?: Readonly<Record<string, string>>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    return response;
  };
  let url = authorizationUrl;
  let response = await visit(url);
  for (let pages = 0; pages < 12; pages += 1) {
    const location = response.headers.get("location");
    if (location !== null) {
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.origin !== origin) return url;
      response = await visit(url);
      continue;
    }
    const page = await response.text();
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    const [, action] = /action="([^"]+)"/.exec(page) ?? [];
    if (prompt === undefined || action === undefined) {
      throw new Error(`not a form of the authorization server: ${response.status} ${page}`);
    }
    const typed = prompt === "login" ? { login: person, password: "whatever" } : {};
    response = await visit(new URL(action, url), { prompt, ...typed });
  }
  throw new Error("the sign-in did not come to an end");
}
