/**
 * A real OpenID provider (oidc-provider) on a free loopback port, and a scripted browser that signs people in there.
 *
 * Whatever password is typed is right. People's roles stand in the claim `roles` of their ID tokens.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { onTestFinished } from "vitest";

/** A provider that answers. */
export interface TestProvider {
  readonly issuer: string;
  /** Signs somebody in at an authorization URL; where the browser is sent at the end. */
  signIn(authorizationUrl: string, person: string): Promise<URL>;
  stop(): Promise<void>;
}

/** Starts one, for a client `dashboard` that is sent back to `redirectUri`. `roles`: by person. */
export async function startProvider(
  redirectUri: string,
  roles: Readonly<Record<string, readonly string[]>>,
): Promise<TestProvider> {
  let answer: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => {
    // koa answers every failure itself.
    void answer?.(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  answer = new Provider(issuer, {
    clients: [
      {
        client_id: "dashboard",
        client_secret: "of-the-dashboard",
        token_endpoint_auth_method: "client_secret_post",
        application_type: "native",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub", "roles"], profile: ["name"], email: ["email"] },
    conformIdTokenClaims: false,
    jwks: {
      keys: [{ ...privateKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" }],
    },
    cookies: { keys: [randomBytes(32).toString("hex")] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, roles: roles[id], email: `${id}@example.com` }),
    }),
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: true } },
  }).callback();
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  onTestFinished(stop);
  return { issuer, signIn, stop };
}

/** A browser with nothing but cookies: follows redirects, fills in the two forms, and stops where the provider sends it away. */
async function signIn(authorizationUrl: string, person: string): Promise<URL> {
  let url = new URL(authorizationUrl);
  const { origin } = url;
  const cookies = new Map<string, string>();
  let form: URLSearchParams | undefined;
  for (let pages = 0; pages < 12; pages += 1) {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    form = undefined;
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get("location");
    if (location !== null) {
      url = new URL(location, url);
      if (url.origin !== origin) return url;
      continue;
    }
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
    const [, action] = /action="([^"]+)"/.exec(text) ?? [];
    if (prompt === undefined || action === undefined) {
      throw new Error(`no form of the provider: ${response.status} ${text}`);
    }
    url = new URL(action, url);
    form = new URLSearchParams({ prompt, login: person, password: "whatever" });
  }
  throw new Error("the sign-in did not come to an end");
}
