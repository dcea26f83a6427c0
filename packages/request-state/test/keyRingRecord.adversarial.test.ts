/**
 * What someone can do to the ring who can write the database: with and without `keyEncryptionKey`.
 */
import type { webcrypto } from "node:crypto";
import { createKeyRingAdmin, deriveKey, type RingEntry } from "@reprise/request-state";
import { CompactEncrypt, compactDecrypt } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { binding, headerText, signed } from "./support/fixtures.ts";
import {
  createRingWorld,
  DAY,
  type RingProcess,
  type RingWorld,
  SECOND,
} from "./support/ringProcesses.ts";

const WRAPPING = "a wrapping secret for tests, long enough";
const OTHER_WRAPPING = "another wrapping secret for tests, long enough";

let world: RingWorld;
beforeEach(() => {
  world = createRingWorld();
});

const entryOf = (process: RingProcess): RingEntry => {
  const kid = process.ring.sealing().kid;
  const entry = world.database.keys().find((key) => key.kid === kid);
  if (entry === undefined) throw new Error("the process has not published its key");
  return entry;
};
const jsonOf = (entry: RingEntry): Record<string, unknown> =>
  JSON.parse(entry.text) as Record<string, unknown>;
const faultsOf = (process: RingProcess): unknown[] =>
  process.log.filter(({ level }) => level === "error").map(({ fields }) => fields);

/** A key whose secret the attacker knows, with a text of their own, and a state that it sealed. */
function planted(text: (kid: string, secret: string) => string): { kid: string; token: string } {
  const secret = Buffer.alloc(32, 7);
  const key = deriveKey(secret);
  const nowMs = world.now();
  const claims = { v: 1, form: "jws", aud: binding.audience, op: binding.operation };
  const rest = { sub: binding.principal, par: binding.params, iatMs: nowMs, expMs: nowMs + DAY };
  const token = signed(
    key,
    headerText("jws", key.kid),
    JSON.stringify({ ...claims, ...rest, state: {} }),
  );
  const endsAtMs = nowMs + DAY;
  world.database.write({
    kid: key.kid,
    text: text(key.kid, secret.toString("base64url")),
    endsAtMs,
  });
  return { kid: key.kid, token };
}

const plain = (kid: string, secret: string): string => {
  const createdAtMs = world.now();
  const sealsUntilMs = createdAtMs + DAY;
  const times = { createdAtMs, sealsUntilMs, newestExpiryMs: sealsUntilMs + DAY };
  return JSON.stringify({ v: 1, kid, owner: "mallory", ...times, secret });
};

describe("Without keyEncryptionKey", () => {
  // promise P5.14
  it("whoever can write the database can add a key: the start says so, and the wrapping is there for it", async () => {
    const one = await world.join("one");
    const { token } = planted(plain);
    expect(await world.within(SECOND, one.judge(token))).toBe("opened");
    expect(one.log[0]).toMatchObject({ level: "warn" });
    expect(one.log[0]?.message).toContain("keyEncryptionKey");
  });

  it.each([
    ["no JSON", "damaged", () => "{"],
    ["no object", "damaged", () => "[1]"],
    ["another version", "format", (kid: string) => JSON.stringify({ v: 2, kid })],
    ["a version that is a text", "damaged", (kid: string) => JSON.stringify({ v: "1", kid })],
    ["another key's kid", "damaged", (_: string, s: string) => plain("A".repeat(22), s)],
    [
      "another secret",
      "damaged",
      (kid: string) => plain(kid, Buffer.alloc(32, 8).toString("base64url")),
    ],
    ["a short secret", "damaged", (kid: string) => plain(kid, "AAAA")],
    [
      "no times",
      "damaged",
      (kid: string, secret: string) => JSON.stringify({ v: 1, kid, owner: "", secret }),
    ],
    [
      "a time without end",
      "damaged",
      (kid: string, secret: string) =>
        plain(kid, secret).replace(/"newestExpiryMs":\d+/, '"newestExpiryMs":1e999'),
    ],
    [
      "a wrapping",
      "wrapped",
      (kid: string, secret: string) =>
        JSON.stringify({ ...JSON.parse(plain(kid, secret)), wrapped: "x" }),
    ],
  ])(
    "a text with %s gives no key, is reported once, and its states can't be judged",
    async (...row) => {
      const [, fault, text] = row;
      const one = await world.join("one");
      await world.pass(10 * SECOND);
      const { kid, token } = planted(text);
      expect(await world.within(SECOND, one.judge(token))).toBe("ring_unavailable");
      await world.pass(10 * SECOND);
      expect(faultsOf(one)).toEqual([{ kid, fault }]);
      const admin = createKeyRingAdmin(world.database.connect().store);
      expect((await admin.list()).map((item) => item.kid)).toContain(kid);
    },
  );
});

describe("With keyEncryptionKey", () => {
  const join = (owner: string, keyEncryptionKey: string | readonly string[] = WRAPPING) =>
    world.join(owner, { keyEncryptionKey });

  // promise P5.14
  it("processes open each other's states, and no secret lies in the database", async () => {
    const [one, other] = [await join("one"), await join("other")];
    expect(await other.judge(one.seal())).toBe("opened");
    for (const { text } of world.database.keys()) expect(text).not.toContain("secret");
    expect(one.log.map(({ message }) => message).join()).not.toContain("keyEncryptionKey");
  });

  // promise P5.14
  it("a changed secret is carried over by a list: the first wraps, all unwrap", async () => {
    const old = await join("old");
    const token = old.seal();
    const both = await join("both", [OTHER_WRAPPING, WRAPPING]);
    expect(await both.judge(token)).toBe("opened");
    const fresh = await join("fresh", OTHER_WRAPPING);
    expect(await fresh.judge(both.seal())).toBe("opened");
    expect(await world.within(8 * SECOND, fresh.judge(token))).toBe("ring_unavailable");
    expect(faultsOf(fresh)).toEqual([{ kid: old.ring.sealing().kid, fault: "wrapped_by_another" }]);
  });

  it("a plain key is not used, whoever wrote it", async () => {
    const one = await join("one");
    const { kid, token } = planted(plain);
    expect(await world.within(8 * SECOND, one.judge(token))).toBe("ring_unavailable");
    expect(faultsOf(one)).toEqual([{ kid, fault: "not_wrapped" }]);
  });

  it("a process without it can't use a wrapped key, and says so", async () => {
    const one = await join("one");
    const other = await world.join("other");
    expect(await world.within(8 * SECOND, other.judge(one.seal()))).toBe("ring_unavailable");
    expect(faultsOf(other)).toEqual([{ kid: one.ring.sealing().kid, fault: "wrapped" }]);
  });

  it("no fact of a key can be changed: neither its life, nor its owner, nor its name", async () => {
    const one = await join("one");
    const token = one.seal();
    const entry = entryOf(one);
    const changes = [
      { newestExpiryMs: world.now() + 1000 * DAY },
      { sealsUntilMs: 0 },
      { createdAtMs: 0 },
      { owner: "mallory" },
    ];
    for (const change of changes) {
      world.database.write({ ...entry, text: JSON.stringify({ ...jsonOf(entry), ...change }) });
      const later = await join(`later ${Object.keys(change).join()}`);
      expect(faultsOf(later)).toEqual([{ kid: entry.kid, fault: "altered" }]);
      // Who held the key before keeps it as it was.
      expect(await one.judge(token)).toBe("opened");
    }
  });

  it("no wrapping can be moved to another key, cut, or changed anywhere", async () => {
    const [one, other] = [await join("one"), await join("other")];
    const [entry, foreign] = [entryOf(one), jsonOf(entryOf(other))["wrapped"]];
    const json = jsonOf(entry);
    const wrapped = String(json["wrapped"]);
    const parts = wrapped.split(".");
    const altered = [
      foreign,
      `${wrapped}.`,
      `${wrapped}A`,
      wrapped.slice(0, -1),
      parts.with(1, "AAAA").join("."),
      parts.with(2, "").join("."),
      parts.with(3, `${parts[3]?.slice(0, -4)}AAAA`).join("."),
      parts.with(4, parts[4]?.slice(0, 6) ?? "").join("."),
      [parts[0], "", parts[2], parts[3]].join("."),
      7,
    ];
    for (const [index, text] of altered.entries()) {
      world.database.write({ ...entry, text: JSON.stringify({ ...json, wrapped: text }) });
      const later = await join(`later ${index}`);
      expect(faultsOf(later), String(text)).toEqual([{ kid: entry.kid, fault: "altered" }]);
    }
    const header = Buffer.from('{"alg":"none"}').toString("base64url");
    world.database.write({
      ...entry,
      text: JSON.stringify({ ...json, wrapped: parts.with(0, header).join(".") }),
    });
    const last = await join("last");
    expect(faultsOf(last)).toEqual([{ kid: entry.kid, fault: "wrapped_by_another" }]);
  });

  it("a key can be revoked although its text can't be read", async () => {
    const one = await join("one");
    const other = await world.join("other");
    const kid = one.ring.sealing().kid;
    expect(await world.within(2 * SECOND, other.ring.revoke(kid))).toEqual({ known: true });
    await world.pass(3 * SECOND);
    expect(one.ring.sealing().kid).not.toBe(kid);
  });

  it("the end that the database gives a key decides nothing here", async () => {
    const one = await join("one");
    const token = one.seal();
    const entry = entryOf(one);
    world.database.write({ ...entry, endsAtMs: entry.endsAtMs + 1000 * DAY });
    const later = await join("later");
    await world.pass(40 * DAY);
    expect(await world.within(2 * SECOND, later.judge(token))).toBe("kid_unknown");
  });
});

describe("A wrapped key", () => {
  const kekOf = async (text: string): Promise<webcrypto.CryptoKey> => {
    const header = JSON.parse(Buffer.from(text.split(".")[0] ?? "", "base64url").toString()) as {
      kid: string;
    };
    expect(header).toEqual({ alg: "dir", enc: "A256GCM", kid: header.kid, typ: "reprise-key" });
    const base = await crypto.subtle.importKey("raw", Buffer.from(WRAPPING), "HKDF", false, [
      "deriveKey",
    ]);
    return await crypto.subtle.deriveKey(
      {
        name: "HKDF",
        hash: "SHA-256",
        salt: Buffer.from("reprise/key-ring/1"),
        info: Buffer.from("wrap A256GCM"),
      },
      base,
      { name: "AES-GCM", length: 256 },
      true,
      ["encrypt", "decrypt"],
    );
  };

  it("is compact JWE as jose reads and writes it, under a key of the documented derivation", async () => {
    const one = await world.join("one", { keyEncryptionKey: WRAPPING });
    const json = jsonOf(entryOf(one));
    const wrapped = String(json["wrapped"]);
    const kek = await kekOf(wrapped);
    const { plaintext, protectedHeader } = await compactDecrypt(wrapped, kek);
    const inside = JSON.parse(Buffer.from(plaintext).toString()) as Record<string, unknown>;
    expect(inside).toEqual({
      kid: json["kid"],
      owner: "one",
      createdAtMs: json["createdAtMs"],
      sealsUntilMs: json["sealsUntilMs"],
      newestExpiryMs: json["newestExpiryMs"],
      secret: expect.any(String),
    });

    // Another one by jose, under the same header.
    const secret = Buffer.alloc(32, 9);
    const key = deriveKey(secret);
    const facts = { ...inside, kid: key.kid };
    const text = JSON.stringify({ ...facts, secret: secret.toString("base64url") });
    const byJose = await new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({
        alg: "dir",
        enc: "A256GCM",
        kid: String(protectedHeader.kid),
        typ: "reprise-key",
      })
      .encrypt(kek);
    const { secret: _, ...shown } = facts as Record<string, unknown>;
    world.database.write({
      kid: key.kid,
      text: JSON.stringify({ v: 1, ...shown, wrapped: byJose }),
      endsAtMs: world.now() + DAY,
    });
    await world.pass(3 * SECOND);
    expect(one.ring.find(key.kid)).toMatchObject({ kid: key.kid });
  });
});
