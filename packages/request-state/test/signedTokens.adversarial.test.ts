/**
 * Access tokens that somebody else signed: what must not be taken, made by an attacker who knows the public keys, and what
 * happens while the issuer can't be asked.
 */
import {
  createIssuerKeys,
  createTokenVerifier,
  type TokenVerdict,
  type TokenVerifierOptions,
} from "@reprise/request-state";
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";

const issuer = "https://issuer.example.com";
const audience = "https://mcp.example.com/mcp";
const start = Date.UTC(2026, 6, 28);

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
let first: Pair;
let second: Pair;
beforeAll(async () => {
  [first, second] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
});

const published = async ({ publicKey }: Pair, kid?: string): Promise<JWK> => ({
  ...(await exportJWK(publicKey)),
  alg: "RS256",
  ...(kid === undefined ? {} : { kid }),
});

interface Issued {
  readonly header?: Partial<JWTHeaderParameters>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: Pair;
}

/** A token of `first` under the key id "one", good for ten minutes. */
function token({ header, claims, key = first }: Issued = {}): Promise<string> {
  const body = { iss: issuer, aud: audience, sub: "ada", exp: start / 1000 + 600, ...claims };
  return new SignJWT(body)
    .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: "one", ...header })
    .sign(key.privateKey);
}

interface Bench {
  verify(text: string): Promise<TokenVerdict>;
  /** Moves the time. */
  advance(ms: number): void;
  /** What the next loads give; undefined: the issuer is away. */
  serve(keys: readonly JWK[] | undefined): void;
  loads(): number;
}

async function bench(options: Partial<TokenVerifierOptions> = {}): Promise<Bench> {
  let now = start;
  let loads = 0;
  let keys: readonly JWK[] | undefined = [await published(first, "one")];
  const clock = { now: () => now };
  const held = createIssuerKeys({
    clock,
    load: async () => {
      loads += 1;
      if (keys === undefined) throw new Error("away");
      return { keys };
    },
  });
  const verifier = createTokenVerifier({
    ...{ issuers: new Map([[issuer, held]]), audiences: [audience], clock },
    ...options,
  });
  return {
    verify: (text) => verifier.verify(text),
    advance: (ms) => {
      now += ms;
    },
    serve: (served) => {
      keys = served;
    },
    loads: () => loads,
  };
}

const causeOf = (verdict: TokenVerdict): string => (verdict.ok ? "ok" : verdict.cause);

describe("a token", () => {
  test("that holds gives issuer, subject and claims as they were signed", async () => {
    const { verify } = await bench();
    const verdict = await verify(await token({ claims: { scope: "a b" } }));
    expect(verdict).toMatchObject({
      ok: true,
      token: { issuer, subject: "ada", claims: { aud: audience, scope: "a b" } },
    });
  });

  test.each([
    ["issuer", { claims: { iss: `${issuer}/` } }],
    ["issuer", { claims: { iss: undefined } }],
    ["audience", { claims: { aud: `${audience}/` } }],
    ["audience", { claims: { aud: undefined } }],
    ["audience", { claims: { aud: ["https://a.example.com"] } }],
    ["claims", { claims: { sub: undefined } }],
    ["claims", { claims: { sub: "" } }],
    ["claims", { claims: { exp: undefined } }],
    ["claims", { claims: { exp: "tomorrow" } }],
    ["expired", { claims: { exp: start / 1000 - 31 } }],
    ["not_yet_valid", { claims: { nbf: start / 1000 + 31 } }],
    ["sender_constrained", { claims: { cnf: { jkt: "thumbprint" } } }],
    ["type", { header: { typ: "dpop+jwt" } }],
    ["key_unknown", { header: { kid: "two" } }],
  ] as const)("is refused for its %s: %j", async (cause, issued) => {
    const { verify } = await bench();
    expect(causeOf(await verify(await token(issued as Issued)))).toBe(cause);
  });

  test.each([
    [{ exp: start / 1000 - 29 }],
    [{ nbf: start / 1000 + 29 }],
    [{ aud: ["https://a.example.com", audience] }],
  ])("within the tolerance, or for several servers, is taken: %j", async (claims) => {
    const { verify } = await bench();
    expect(causeOf(await verify(await token({ claims })))).toBe("ok");
  });

  test("signed with the public key as a shared secret is refused before any key is looked for", async () => {
    const { verify, loads } = await bench();
    const secret = Buffer.from(JSON.stringify(await published(first, "one")));
    const forged = await new SignJWT({ iss: issuer, aud: audience, sub: "root" })
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .setExpirationTime(start / 1000 + 600)
      .sign(secret);
    expect(causeOf(await verify(forged))).toBe("algorithm");
    expect(loads()).toBe(0);
  });

  test("of a symmetric key that an issuer publishes by mistake is refused", async () => {
    const { verify, serve } = await bench();
    serve([{ kty: "oct", k: Buffer.alloc(32, 1).toString("base64url"), kid: "one" }]);
    expect(causeOf(await verify(await token()))).toBe("key_unknown");
  });

  test("with a critical header member that nobody knows is refused", async () => {
    const { verify } = await bench();
    const [, body = "", signature = ""] = (await token()).split(".");
    const head = { alg: "RS256", kid: "one", crit: ["exp"], exp: 1 };
    const header = Buffer.from(JSON.stringify(head)).toString("base64url");
    expect(causeOf(await verify(`${header}.${body}.${signature}`))).toBe("malformed");
  });

  test.each([
    "",
    "a",
    "a.b",
    "..",
    "a.b.c",
    `${"a".repeat(20_000)}.b.c`,
    "e30.e30.",
    "bnVsbA.e30.",
  ])("that is none is refused, never an exception: %s", async (text) => {
    const { verify } = await bench();
    expect(["malformed", "algorithm", "too_large"]).toContain(causeOf(await verify(text)));
  });

  test("without a key id is tried with each key that could have signed it", async () => {
    const { verify, serve } = await bench();
    serve([await published(second), await published(first)]);
    const header = { kid: undefined } as unknown as Partial<JWTHeaderParameters>;
    expect(causeOf(await verify(await token({ header })))).toBe("ok");
    const stranger = await generateKeyPair("RS256");
    expect(causeOf(await verify(await token({ header, key: stranger })))).toBe("signature");
  });
});

describe("the keys of an issuer", () => {
  test("are loaded once for any number of tokens at once", async () => {
    const { verify, loads } = await bench();
    const text = await token();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verify(text)));
    expect(verdicts.every(({ ok }) => ok)).toBe(true);
    expect(loads()).toBe(1);
  });

  test("are loaded anew for a key id that they lack, once in the cooldown", async () => {
    const { verify, serve, advance, loads } = await bench();
    await verify(await token());
    serve([await published(second, "two")]);
    const rotated = await token({ key: second, header: { kid: "two" } });
    expect(causeOf(await verify(rotated))).toBe("key_unknown");
    expect(loads()).toBe(1);
    advance(10_000);
    expect(causeOf(await verify(rotated))).toBe("ok");
    expect(loads()).toBe(2);
    expect(causeOf(await verify(await token()))).toBe("key_unknown");
    expect(loads()).toBe(2);
  });

  test("that an issuer took away are out of use after ten minutes", async () => {
    const { verify, serve, advance } = await bench();
    const text = await token({ claims: { exp: start / 1000 + 7200 } });
    await verify(text);
    serve([await published(second, "two")]);
    advance(599_999);
    expect(causeOf(await verify(text))).toBe("ok");
    advance(1);
    expect(causeOf(await verify(text))).toBe("key_unknown");
  });

  test("are used for an hour while the issuer is away, and an unknown one can't be judged meanwhile", async () => {
    const { verify, serve, advance } = await bench();
    const text = await token({ claims: { exp: start / 1000 + 7200 } });
    await verify(text);
    serve(undefined);
    advance(3_599_999);
    expect(causeOf(await verify(text))).toBe("ok");
    const unknown = await token({ header: { kid: "two" }, claims: { exp: start / 1000 + 7200 } });
    expect(causeOf(await verify(unknown))).toBe("keys_unavailable");
    advance(1);
    expect(await verify(text)).toEqual({
      ok: false,
      cause: "keys_unavailable",
      retryAfterMs: 1000,
    });
  });

  test("that can't be loaded are tried again after a second, not at every token", async () => {
    const { verify, serve, advance, loads } = await bench();
    serve(undefined);
    const text = await token();
    for (let tries = 0; tries < 5; tries += 1) {
      expect(causeOf(await verify(text))).toBe("keys_unavailable");
    }
    expect(loads()).toBe(1);
    advance(1_000);
    serve([await published(first, "one")]);
    expect(causeOf(await verify(text))).toBe("ok");
  });

  test("that are no key set count as not loaded", async () => {
    const { verify, serve } = await bench();
    serve("no list" as unknown as readonly JWK[]);
    expect(causeOf(await verify(await token()))).toBe("keys_unavailable");
  });

  test("don't stay young when the clock is set back", async () => {
    const { verify, advance, loads } = await bench();
    await verify(await token());
    advance(-60_000);
    await verify(await token());
    expect(loads()).toBe(2);
  });
});

test.each([
  ["issuers", { issuers: new Map() }],
  ["audiences", { audiences: [] }],
  ["audiences", { audiences: [""] }],
  ["clockToleranceMs", { clockToleranceMs: -1 }],
])("a verifier without usable %s is not made", async (name, options) => {
  await expect(bench(options)).rejects.toThrow(name);
});
