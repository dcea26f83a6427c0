/**
 * Bearer tokens of a real authorization server at a real front: which are taken, and what the others are answered.
 */
import { createHmac, createPublicKey, type JsonWebKey } from "node:crypto";
import { createManualClock, type ManualClock } from "@reprise/testing";
import {
  type BearerAuthOptions,
  createBearerAuth,
  defineServer,
  type ServedServer,
  type ServeOptions,
  tool,
} from "reprise";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../support/authorizationServer.ts";
import { type CapturedLog, capturedLog } from "../support/capturedLog.ts";
import { RawClient, type RawMessage, type RawReply } from "../support/rawMcp.ts";
import { serveForTest } from "../support/temporary.ts";

const resource = "https://mcp.example.com/public/mcp";
const metadataUrl = "https://mcp.example.com/.well-known/oauth-protected-resource/public/mcp";
const minute = 60_000;

let issuer: AuthorizationServer;
let other: AuthorizationServer;
beforeAll(async () => {
  const scopes = ["notes:read", "notes:write"];
  [issuer, other] = await Promise.all([
    startAuthorizationServer(scopes),
    startAuthorizationServer(scopes),
  ]);
});
afterAll(() => Promise.all([issuer.stop(), other.stop()]));

let clock: ManualClock;
let entered: string[];
beforeEach(() => {
  clock = createManualClock(Date.now());
  entered = [];
});

const notes = () =>
  defineServer({
    name: "notes",
    tools: [
      tool({
        name: "whoami",
        description: "Says who calls",
        effects: "repeatable",
        handler: (_args, ctx) => {
          entered.push("whoami");
          const { principal, person, scopes } = ctx.caller;
          return JSON.stringify({ principal, person, scopes });
        },
      }),
      tool({
        name: "write_note",
        description: "Writes a note",
        scopes: ["notes:write"],
        effects: "repeatable",
        handler: () => {
          entered.push("write_note");
          return "Written.";
        },
      }),
    ],
  });

interface Front extends ServedServer {
  readonly log: CapturedLog;
  call(token: string | undefined, name?: string): Promise<RawReply>;
}

/** A front for tokens of `issuer`. */
async function front(
  auth: Partial<BearerAuthOptions> = {},
  options: ServeOptions = {},
): Promise<Front> {
  const log = capturedLog();
  const bearer = createBearerAuth({
    ...{ resource, issuers: issuer.issuer, clock, logger: log.logger },
    ...auth,
  });
  const { authenticate, protectedResource } = bearer;
  const settings = { authenticate, protectedResource, logger: log.logger, rateLimit: "none" };
  const served = await serveForTest(notes(), {
    store: "none",
    ...settings,
    ...options,
  } as ServeOptions);
  const client = new RawClient();
  onTestFinished(() => client.close());
  return {
    ...served,
    log,
    call: (token, name = "whoami") =>
      client.send(served.url, {
        params: { name, arguments: {} },
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      }),
  };
}

function headerOf({ rawHeaders }: RawReply, name: string): string | undefined {
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return at === -1 ? undefined : rawHeaders[at + 1];
}

const messageOf = ({ body }: RawReply): RawMessage => JSON.parse(body) as RawMessage;
const textOf = (reply: RawReply): string => messageOf(reply).result?.content?.[0]?.text ?? "";
const tokenOf = async (scope = "", server = issuer, audience = resource): Promise<string> =>
  (await server.tokens({ person: "ada", resource: audience, scope })).accessToken;

/** Header and claims of a token, put together again with other ones. */
function rewritten(
  token: string,
  header: object,
  sign: (input: string) => string,
  claims: object = {},
): string {
  const parts = token.split(".").slice(0, 2);
  const [head, body] = parts.map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  const input = [
    { ...head, ...header },
    { ...body, ...claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${input}.${sign(input)}`;
}

async function publicKeyPem(server: AuthorizationServer): Promise<string> {
  const response = await fetch(`${server.issuer}/jwks`);
  const { keys } = (await response.json()) as { readonly keys: readonly JsonWebKey[] };
  const [key = {}] = keys;
  return createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "pem" }).toString();
}

describe("a token", () => {
  test("of the issuer, for this server, names its person and client to the handler", async () => {
    const { call } = await front();
    const reply = await call(await tokenOf("notes:read"));
    expect(JSON.parse(textOf(reply))).toEqual({
      principal: JSON.stringify([issuer.issuer, "ada", "host-a"]),
      person: JSON.stringify([issuer.issuer, "ada"]),
      scopes: ["notes:read"],
    });
  });

  test("is asked for, with the place of the metadata and the scopes that every call needs", async () => {
    const { call } = await front({ requiredScopes: ["notes:read"] });
    const reply = await call(undefined);
    expect(reply.status).toBe(401);
    expect(headerOf(reply, "www-authenticate")).toBe(
      `Bearer resource_metadata="${metadataUrl}", scope="notes:read"`,
    );
    expect(messageOf(reply).error).toEqual({
      code: -32600,
      message: "This server needs a bearer token.",
    });
  });

  test("that is no good for any reason gets one answer, and its cause stands in the log alone", async () => {
    const good = await tokenOf();
    const pem = await publicKeyPem(issuer);
    const hmac = (input: string): string =>
      createHmac("sha256", pem).update(input).digest("base64url");
    const [head = "", body = "", signature = ""] = good.split(".");
    const flipped = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    const keepSignature = (): string => signature;
    const bad = {
      audience: await tokenOf("", issuer, "https://other.example.com/mcp"),
      issuer: await tokenOf("", other),
      signature: `${head}.${body}.${flipped}`,
      claimsChanged: rewritten(good, {}, keepSignature, { sub: "root" }),
      algNone: rewritten(good, { alg: "none" }, () => ""),
      algHmac: rewritten(good, { alg: "HS256" }, hmac),
      unknownKey: rewritten(good, { kid: "made-up" }, keepSignature),
      foreignSignature: rewritten(await tokenOf("", other), {}, keepSignature, {
        iss: issuer.issuer,
      }),
      idTokenType: rewritten(good, { typ: "logout+jwt" }, keepSignature),
      malformed: "not.a.token",
      empty: "x",
    };
    const { call, log } = await front();
    expect((await call(good)).status).toBe(200);
    entered.length = 0;
    const replies = await Promise.all(Object.values(bad).map((token) => call(token)));
    const answers = replies.map((reply) =>
      JSON.stringify([
        reply.status,
        headerOf(reply, "www-authenticate"),
        reply.body,
        reply.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() !== "date"),
      ]),
    );
    expect(new Set(answers).size).toBe(1);
    expect(replies[0]?.status).toBe(401);
    expect(headerOf(replies[0] as RawReply, "www-authenticate")).toBe(
      `Bearer error="invalid_token", error_description="The access token is not valid.", resource_metadata="${metadataUrl}"`,
    );
    expect(entered).toEqual([]);
    const causes = log.entries.flatMap(({ fields }) =>
      typeof fields["reason"] === "string" ? [fields["reason"]] : [],
    );
    expect(causes.toSorted()).toEqual(
      [
        ...["audience", "issuer", "signature", "signature", "algorithm", "algorithm"],
        ...["key_unknown", "key_unknown", "type", "malformed", "malformed"],
      ].toSorted(),
    );
  });

  test("is good until its expiry and the tolerance have passed", async () => {
    const { call, log } = await front({ clockTolerance: "30s" });
    const token = await tokenOf();
    clock.advance(120 * minute + 25_000);
    expect((await call(token)).status).toBe(200);
    clock.advance(10_000);
    expect((await call(token)).status).toBe(401);
    expect(log.entries.at(-1)?.fields["reason"]).toBe("expired");
  });

  test("for an audience that the settings name is taken, and one for the public URL is not", async () => {
    const { call } = await front({ audiences: ["https://name.of.the.issuer/api"] });
    expect((await call(await tokenOf("", issuer, "https://name.of.the.issuer/api"))).status).toBe(
      200,
    );
    expect((await call(await tokenOf())).status).toBe(401);
  });

  test("of any configured issuer is taken, and their persons of one name are different ones", async () => {
    const { call } = await front({ issuers: [issuer.issuer, other.issuer] });
    const tokens = [await tokenOf(), await tokenOf("", other)];
    const persons = await Promise.all(
      tokens.map(
        async (token) => (JSON.parse(textOf(await call(token))) as { person: string }).person,
      ),
    );
    expect(persons).toEqual([
      JSON.stringify([issuer.issuer, "ada"]),
      JSON.stringify([other.issuer, "ada"]),
    ]);
  });
});

describe("scopes", () => {
  test("that a tool needs are asked for in one challenge, and the token that follows is taken", async () => {
    const { call } = await front();
    const refused = await call(await tokenOf("notes:read"), "write_note");
    expect(refused.status).toBe(403);
    const challenge = headerOf(refused, "www-authenticate") ?? "";
    expect(challenge).toBe(
      `Bearer error="insufficient_scope", error_description="The access token lacks a scope.", resource_metadata="${metadataUrl}", scope="notes:write"`,
    );
    expect(entered).toEqual([]);
    const [, scope] = /scope="([^"]*)"$/.exec(challenge) ?? [];
    expect(textOf(await call(await tokenOf(scope), "write_note"))).toBe("Written.");
  });

  test("that the caller has of this server are named too, so that a new token keeps them", async () => {
    const { call } = await front({ requiredScopes: ["notes:read"] });
    const refused = await call(await tokenOf("notes:read"), "write_note");
    expect(headerOf(refused, "www-authenticate")).toContain('scope="notes:read notes:write"');
  });

  test("that every call needs are checked before the body is read", async () => {
    const { call } = await front({ requiredScopes: ["notes:read", "notes:write"] });
    const refused = await call(await tokenOf("notes:write"));
    expect(refused.status).toBe(403);
    expect(headerOf(refused, "www-authenticate")).toContain(
      `error="insufficient_scope", error_description="The access token lacks a scope.", resource_metadata="${metadataUrl}", scope="notes:read notes:write"`,
    );
  });

  test("that include others count for those", async () => {
    const { call } = await front({
      requiredScopes: ["notes:read"],
      impliedScopes: { "notes:write": ["notes:read"] },
    });
    expect(textOf(await call(await tokenOf("notes:write"), "write_note"))).toBe("Written.");
  });
});

describe("an issuer", () => {
  test("that changes its key has its new tokens taken and its old ones refused, without a restart", async () => {
    const { call } = await front();
    const before = await tokenOf();
    expect((await call(before)).status).toBe(200);
    issuer.rotateKeys();
    const after = await tokenOf();
    clock.advance(11_000);
    expect((await call(after)).status).toBe(200);
    expect((await call(before)).status).toBe(401);
  });

  test("can't be flooded through made-up key ids", async () => {
    const { call } = await front();
    const token = await tokenOf();
    expect((await call(token)).status).toBe(200);
    clock.advance(11_000);
    const asked = issuer.requests.length;
    const forged = Array.from({ length: 50 }, (_, at) =>
      rewritten(token, { kid: `made-up-${at}` }, () => "AAAA"),
    );
    const replies = await Promise.all(forged.map((each) => call(each)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    // One look: the metadata and the keys.
    expect(issuer.requests.length - asked).toBe(2);
  });

  test("that is away at the start is no reason to refuse a token: it may be repeated, and is taken later", async () => {
    const token = await tokenOf();
    const { call, log } = await front();
    await issuer.stop();
    const reply = await call(token);
    await issuer.start();
    expect(reply.status).toBe(503);
    expect(headerOf(reply, "www-authenticate")).toBeUndefined();
    expect(headerOf(reply, "retry-after")).toBe("1");
    expect(messageOf(reply).error).toMatchObject({
      code: -31020,
      data: { code: "AUTH_UNAVAILABLE", retryAfterMs: 1000 },
    });
    expect(entered).toEqual([]);
    clock.advance(1_000);
    expect((await call(token)).status).toBe(200);
    const told = log.entries.filter(({ fields }) => fields["issuer"] === issuer.issuer);
    expect(told.map(({ level }) => level)).toEqual(["warn", "info"]);
  });

  test("that goes away later leaves its tokens good for an hour, then they can't be judged", async () => {
    const { call } = await front();
    const token = await tokenOf();
    expect((await call(token)).status).toBe(200);
    await issuer.stop();
    try {
      clock.advance(59 * minute);
      expect((await call(token)).status).toBe(200);
      clock.advance(2 * minute);
      expect((await call(token)).status).toBe(503);
    } finally {
      await issuer.start();
    }
    clock.advance(1_000);
    expect((await call(token)).status).toBe(200);
  });
});

test("no token stands in a log line, a header or a body of the front, taken or refused", async () => {
  const { call, log, url } = await front({ requiredScopes: ["notes:read"] });
  const taken = await tokenOf("notes:read");
  const tokens = [taken, await tokenOf(), `${taken}x`, await tokenOf("", other), `x.${taken}`];
  const replies: RawReply[] = [];
  for (const token of tokens) replies.push(await call(token), await call(token, "write_note"));
  await issuer.stop();
  clock.advance(100 * minute);
  replies.push(await call(taken));
  await issuer.start();
  expect(replies.at(-1)?.status).toBe(503);
  const metrics = await (await fetch(new URL("/metrics", url))).text();
  const said = JSON.stringify([log.entries, replies, metrics]);
  expect(log.entries.length).toBeGreaterThan(4);
  const secrets = tokens.flatMap((token) => token.split(".").filter((part) => part.length > 20));
  expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
});
