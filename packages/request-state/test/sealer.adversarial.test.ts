import {
  createStateSealer,
  deriveKey,
  ephemeralKeys,
  type KeyLife,
  keysFromSecrets,
  OPENS_AFTER_EXPIRY_MS,
  type OpeningKey,
} from "@reprise/request-state";
import { describe, expect, it } from "vitest";
import {
  binding,
  causeOf,
  claimsOf,
  encrypted,
  headerText,
  input,
  NOW_MS,
  OTHER_SECRET,
  SECRET,
  signed,
} from "./support/fixtures.ts";

const keys = keysFromSecrets(SECRET);
const key = keys.sealing();
const sealer = createStateSealer({ keys });
const judge = async (token: unknown, over: object = {}): Promise<string> =>
  causeOf(await sealer.open({ token, binding, nowMs: NOW_MS, ...over }));

const jws = await sealer.seal(input);
const jwe = await sealer.seal({ ...input, confidential: true });
const forms = [
  ["jws", jws],
  ["jwe", jwe],
] as const;

describe("What is no token", () => {
  it.each([
    undefined,
    null,
    7,
    true,
    {},
    [],
    [jws],
    Buffer.from(jws),
    Object(jws),
    { toString: () => jws },
    "",
    ".",
    "..",
    "....",
    "a.b.c",
    "é.é.é",
    "\0",
    `${jws} `,
    `Bearer ${jws}`,
  ])("is refused as malformed without an exception: %o", async (token) => {
    expect(await judge(token)).toBe("malformed");
  });

  // promise P5.8
  it("is refused by its size before anything is decoded, whatever it consists of", async () => {
    for (const filler of ["A", ".", "é", "\ud800", "A."]) {
      expect(await judge(filler.repeat(40_000))).toBe("too_large");
    }
    expect(await judge(".".repeat(32_768))).toBe("malformed");
    expect(await judge("A".repeat(32_768))).toBe("malformed");
  });
});

describe.each(forms)("A %s with one character changed", (_form, token) => {
  const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0é";

  it("is refused, for each position and each other character", async () => {
    const opened: string[] = [];
    for (let at = 0; at < token.length; at += 1) {
      for (const character of characters) {
        if (character === token[at]) continue;
        const altered = token.slice(0, at) + character + token.slice(at + 1);
        if ((await judge(altered)) === "opened") opened.push(altered);
      }
    }
    expect(opened).toEqual([]);
  });

  it("is refused when cut or extended by any length, at either end", async () => {
    const opened: string[] = [];
    for (let length = 0; length < token.length; length += 1) {
      const cuts = [token.slice(0, length), token.slice(token.length - length)];
      const extended = [token + token.slice(0, length + 1), token.slice(-length - 1) + token];
      for (const altered of [...cuts, ...extended]) {
        if ((await judge(altered)) === "opened") opened.push(altered);
      }
    }
    expect(opened).toEqual([]);
  });
});

describe("The last character of a part", () => {
  /** Other characters that a lenient decoder reads as the same bytes. */
  function twins(part: string): string[] {
    const bytes = Buffer.from(part, "base64url");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return alphabet
      .split("")
      .map((last) => part.slice(0, -1) + last)
      .filter((twin) => twin !== part && Buffer.from(twin, "base64url").equals(bytes));
  }

  // promise P5.3
  it("has one spelling in each part of each form, for each length of the body", async () => {
    let twinCount = 0;
    for (const confidential of [false, true]) {
      for (const pad of ["", "x", "xx"]) {
        const token = await sealer.seal({ ...input, payload: { pad }, confidential });
        const parts = token.split(".");
        expect(await judge(token)).toBe("opened");
        for (const [index, part] of parts.entries()) {
          for (const twin of part === "" ? [] : twins(part)) {
            twinCount += 1;
            expect(await judge(parts.with(index, twin).join("."))).toBe("malformed");
          }
        }
      }
    }
    // Signature 3 twins, tag 15, bodies 0, 3 or 15 by length: the check above had something to check.
    expect(twinCount).toBeGreaterThan(60);
  });
});

describe("A header that is authentic but not ours", () => {
  const kid = key.kid;
  const headers: readonly (readonly [string, string])[] = [
    ["another order", `{"kid":"${kid}","alg":"HS256","typ":"reprise-state"}`],
    ["a duplicate", `{"alg":"HS256","alg":"HS256","kid":"${kid}","typ":"reprise-state"}`],
    [
      "a duplicate that decides",
      `{"alg":"none","alg":"HS256","kid":"${kid}","typ":"reprise-state"}`,
    ],
    ["white space", `{"alg": "HS256","kid":"${kid}","typ":"reprise-state"}`],
    ["an escape", `{"\\u0061lg":"HS256","kid":"${kid}","typ":"reprise-state"}`],
    ["no typ", `{"alg":"HS256","kid":"${kid}"}`],
    ["another typ", `{"alg":"HS256","kid":"${kid}","typ":"reprise-session"}`],
    ["a typ of the same length", `{"alg":"HS256","kid":"${kid}","typ":"reprise-stale"}`],
    ["an alg of the same length", `{"alg":"HS384","kid":"${kid}","typ":"reprise-state"}`],
    ["crit", `{"alg":"HS256","crit":["exp"],"kid":"${kid}","typ":"reprise-state"}`],
    ["zip", `{"alg":"HS256","kid":"${kid}","typ":"reprise-state","zip":"DEF"}`],
    ["b64", `{"alg":"HS256","b64":false,"kid":"${kid}","typ":"reprise-state"}`],
    ["alg none", `{"alg":"none","kid":"${kid}","typ":"reprise-state"}`],
    ["another alg", `{"alg":"HS512","kid":"${kid}","typ":"reprise-state"}`],
    ["a short kid", `{"alg":"HS256","kid":"${kid.slice(1)}","typ":"reprise-state"}`],
    ["a kid with a quote", `{"alg":"HS256","kid":"${kid.slice(2)}\\"","typ":"reprise-state"}`],
    ["the header of a JWE", headerText("jwe", kid)],
    ["no JSON", "header"],
  ];

  // promise P5.2
  it.each(headers)("is refused by its text: %s", async (_what, header) => {
    const text = JSON.stringify(claimsOf("jws"));
    expect(await judge(signed(key, header, text))).toBe("header");
  });

  // promise P5.2
  it("is refused in a JWE too", async () => {
    const text = JSON.stringify(claimsOf("jwe"));
    const zipped = headerText("jwe", kid).replace("}", ',"zip":"DEF"}');
    const weak = headerText("jwe", kid).replace("A256GCM", "A128GCM");
    for (const header of [zipped, weak, headerText("jws", kid)]) {
      expect(await judge(encrypted(key, header, text))).toBe("header");
    }
    // The same helper makes a good token, so it was the header that was refused.
    expect(await judge(encrypted(key, headerText("jwe", kid), text))).toBe("opened");
  });
});

describe("Claims that are authentic but not ours", () => {
  const seal = (claims: unknown): string =>
    signed(
      key,
      headerText("jws", key.kid),
      typeof claims === "string" ? claims : JSON.stringify(claims),
    );
  const good = claimsOf("jws");

  it("open when they are exactly those of this format", async () => {
    expect(await judge(seal(good))).toBe("opened");
  });

  it.each([0, 2, 99])("are refused when the format is %i", async (v) => {
    expect(await judge(seal({ ...good, v }))).toBe("format");
    expect(await judge(seal({ v, anything: "else" }))).toBe("format");
  });

  it.each([
    ["no JSON", "{"],
    ["nothing", " "],
    ["an array", [good]],
    ["null", null],
    ["a text", "text"],
    ["a version that is a text", { ...good, v: "1" }],
    ["an extra member", { ...good, extra: 1 }],
    ["a missing member", { ...good, sub: undefined }],
    ["an empty binding", { ...good, aud: "" }],
    ["a number for a binding", { ...good, par: 1 }],
    ["a text for a time", { ...good, expMs: `${input.expiresAtMs}` }],
    ["no expiry", { ...good, expMs: null }],
    ["an expiry before the issue", { ...good, expMs: input.issuedAtMs }],
    ["a payload that is an array", { ...good, state: [] }],
    ["a payload that is null", { ...good, state: null }],
    ["an unknown form", { ...good, form: "none" }],
  ])("are refused: %s", async (_what, claims) => {
    expect(await judge(seal(claims))).toBe("payload");
  });

  it("keep a member called __proto__ an ordinary member", async () => {
    const payload: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":1}');
    const token = seal(
      JSON.stringify(good).replace(JSON.stringify(good["state"]), JSON.stringify(payload)),
    );
    const reply = await sealer.open({ token, binding, nowMs: NOW_MS });
    expect(reply).toHaveProperty("ok", true);
    expect({}).not.toHaveProperty("polluted");
    expect(reply.ok && Object.keys(reply.payload)).toEqual(["__proto__", "a"]);
  });
});

describe("One form in the place of the other", () => {
  const encrypting = createStateSealer({ keys, encrypt: true });

  it("is refused when signed claims say that they have to be encrypted, by every sealer", async () => {
    const token = signed(key, headerText("jws", key.kid), JSON.stringify(claimsOf("jwe")));
    expect(await judge(token)).toBe("plain_where_sealed");
    expect(causeOf(await encrypting.open({ token, binding, nowMs: NOW_MS }))).toBe(
      "plain_where_sealed",
    );
  });

  it("is refused when encrypted claims say that they were signed", async () => {
    const token = encrypted(key, headerText("jwe", key.kid), JSON.stringify(claimsOf("jws")));
    expect(await judge(token)).toBe("payload");
  });

  it("is refused when the subkeys are confused: the one signs or encrypts nothing for the other", async () => {
    const swapped = { ...key, signing: key.encryption, encryption: key.signing };
    const asJws = signed(swapped, headerText("jws", key.kid), JSON.stringify(claimsOf("jws")));
    const asJwe = encrypted(swapped, headerText("jwe", key.kid), JSON.stringify(claimsOf("jwe")));
    expect(await judge(asJws)).toBe("seal_broken");
    expect(await judge(asJwe)).toBe("seal_broken");
  });
});

describe("A genuine state on another request", () => {
  // promise P5.4
  it.each(["audience", "operation", "principal", "params"] as const)(
    "is refused for another %s, in both forms",
    async (member) => {
      for (const [, token] of forms) {
        for (const value of [
          `${binding[member]}x`,
          binding[member].slice(1),
          "x".repeat(binding[member].length),
        ]) {
          expect(await judge(token, { binding: { ...binding, [member]: value } })).toBe(member);
        }
      }
    },
  );

  it("is refused when two members of the binding trade places", async () => {
    const traded = { ...binding, audience: binding.operation, operation: binding.audience };
    expect(await judge(jws, { binding: traded })).toBe("audience");
  });

  it("is refused when lone surrogates are all that differs", async () => {
    const odd = { ...binding, principal: "p\ud800" };
    const token = await sealer.seal({ ...input, binding: odd });
    expect(await judge(token, { binding: odd })).toBe("opened");
    expect(await judge(token, { binding: { ...binding, principal: "p\ud801" } })).toBe("principal");
    expect(await judge(token, { binding: { ...binding, principal: "p\ufffd" } })).toBe("principal");
  });

  it("is refused for the binding also when it has expired", async () => {
    const nowMs = input.expiresAtMs + 1;
    expect(await judge(jws, { nowMs, binding: { ...binding, params: "other" } })).toBe("params");
  });
});

describe("A token of another key", () => {
  it("is refused when another process made it with its own ephemeral key", async () => {
    const token = await createStateSealer({ keys: ephemeralKeys() }).seal(input);
    const here = createStateSealer({ keys: ephemeralKeys() });
    expect(causeOf(await here.open({ token, binding, nowMs: NOW_MS }))).toBe("kid_unknown");
  });

  it("is refused when it carries the kid of a key that it was not sealed with", async () => {
    const foreign = keysFromSecrets(OTHER_SECRET).sealing();
    const claims = JSON.stringify(claimsOf("jws"));
    expect(await judge(signed(foreign, headerText("jws", key.kid), claims))).toBe("seal_broken");
    expect(await judge(encrypted(foreign, headerText("jwe", key.kid), claims))).toBe("seal_broken");
  });

  it("is refused when its kid names a member that every object has", async () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      const kid = name.padEnd(22, "A");
      expect(await judge(signed(key, headerText("jws", kid), "{}"))).toBe("kid_unknown");
    }
  });
});

describe("A key with a life", () => {
  const withLife = (life: KeyLife) => {
    const living: OpeningKey = { ...key, life };
    return createStateSealer({ keys: { sealing: () => living, find: () => living } });
  };
  const newestExpiryMs = input.expiresAtMs;
  const causeAt = async (life: KeyLife, token: string, nowMs: number): Promise<string> =>
    causeOf(await withLife(life).open({ token, binding, nowMs }));

  it("opens until 30 days after its newest expiry and no longer", async () => {
    const life = { newestExpiryMs, revoked: false };
    const end = newestExpiryMs + OPENS_AFTER_EXPIRY_MS;
    for (const [, token] of forms) {
      expect(await causeAt(life, token, end - 1)).toBe("opened");
      expect(await causeAt(life, token, end)).toBe("expired_key");
    }
  });

  it("opens nothing once revoked, and tells so only of states that it did seal", async () => {
    const life = { newestExpiryMs, revoked: true };
    expect(await causeAt(life, jws, NOW_MS)).toBe("revoked_key");
    const forged = `${jws.slice(0, -2)}AA`;
    expect(await causeAt(life, forged, NOW_MS)).toBe("seal_broken");
  });

  it("refuses to seal a state that would outlive it, or anything once revoked", () => {
    const late = { ...input, expiresAtMs: newestExpiryMs + 1 };
    expect(() => withLife({ newestExpiryMs, revoked: false }).seal(late)).toThrow(RangeError);
    expect(() => withLife({ newestExpiryMs, revoked: true }).seal(input)).toThrow(RangeError);
    expect(withLife({ newestExpiryMs, revoked: false }).seal(input)).toBe(jws);
  });

  it("is derived with its life from a secret", () => {
    const life = { newestExpiryMs, revoked: false };
    expect(deriveKey(Buffer.from(SECRET), life)).toMatchObject({ kid: key.kid, life });
  });
});
