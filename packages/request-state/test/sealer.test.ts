import { isRepriseError } from "@reprise/errors";
import {
  createStateSealer,
  ephemeralKeys,
  type KeySource,
  keysFromSecrets,
} from "@reprise/request-state";
import { describe, expect, it } from "vitest";
import { binding, input, NOW_MS, OTHER_SECRET, SECRET } from "./support/fixtures.ts";

const plain = createStateSealer({ keys: keysFromSecrets(SECRET) });
const encrypting = createStateSealer({ keys: keysFromSecrets(SECRET), encrypt: true });

describe("A sealed state", () => {
  it("opens for the same request with its payload and times", async () => {
    const token = await plain.seal(input);
    const kid = keysFromSecrets(SECRET).sealing().kid;
    expect(await plain.open({ token, binding, nowMs: NOW_MS + 1 })).toEqual({
      ok: true,
      payload: input.payload,
      issuedAtMs: input.issuedAtMs,
      expiresAtMs: input.expiresAtMs,
      expired: false,
      kid,
    });
  });

  // promise P5.1
  it("is a compact JWS by default, whose payload whoever holds it can read", async () => {
    const parts = (await plain.seal(input)).split(".");
    expect(parts).toHaveLength(3);
    expect(Buffer.from(parts[1] ?? "", "base64url").toString()).toContain('"run":"r-1"');
  });

  // promise P5.1
  it("is a compact JWE without a readable marker when the sealer encrypts", async () => {
    const marked = { ...input, payload: { secret: "MARKER-1234567" } };
    const token = await encrypting.seal(marked);
    const readable = token
      .split(".")
      .map((part) => Buffer.from(part, "base64url").toString("latin1"));
    expect(readable).toHaveLength(5);
    expect(readable.join("\n")).not.toContain("MARKER");
    expect(await encrypting.open({ token, binding, nowMs: NOW_MS })).toMatchObject({
      ok: true,
      payload: marked.payload,
    });
  });

  it("is encrypted when confidential, also where the sealer signs by default", async () => {
    const token = await plain.seal({ ...input, confidential: true });
    expect(token.split(".")).toHaveLength(5);
    expect(await plain.open({ token, binding, nowMs: NOW_MS })).toMatchObject({ ok: true });
  });

  it("is the same token for the same signed input, and never the same when encrypted", async () => {
    expect(await plain.seal(input)).toBe(await plain.seal(input));
    expect(await encrypting.seal(input)).not.toBe(await encrypting.seal(input));
  });

  it("reports from its expiry on that it is expired, and still opens", async () => {
    const token = await plain.seal(input);
    const at = async (nowMs: number) => plain.open({ token, binding, nowMs });
    expect(await at(input.expiresAtMs - 1)).toMatchObject({ ok: true, expired: false });
    expect(await at(input.expiresAtMs)).toMatchObject({ ok: true, expired: true });
    expect(await at(input.expiresAtMs * 2)).toMatchObject({ ok: true, expired: true });
  });

  it("is sealed and opened in the same turn when the key is at hand", () => {
    const token = plain.seal(input);
    expect(token).toBeTypeOf("string");
    expect(plain.open({ token, binding, nowMs: NOW_MS })).toHaveProperty("ok", true);
  });
});

describe("A deploy that changes settings", () => {
  it("keeps signed states open when encryptRequestState is turned on, and back", async () => {
    const open = { binding, nowMs: NOW_MS };
    expect(await encrypting.open({ token: await plain.seal(input), ...open })).toHaveProperty(
      "ok",
      true,
    );
    expect(await plain.open({ token: await encrypting.seal(input), ...open })).toHaveProperty(
      "ok",
      true,
    );
  });

  it("keeps states of the old secret open while it stays in the list, and seals with the first", async () => {
    const rotated = createStateSealer({ keys: keysFromSecrets([OTHER_SECRET, SECRET]) });
    const open = { binding, nowMs: NOW_MS };
    const old = await plain.seal(input);
    const fresh = await rotated.seal(input);
    expect(await rotated.open({ token: old, ...open })).toMatchObject({ ok: true });
    expect(await rotated.open({ token: fresh, ...open })).toMatchObject({
      ok: true,
      kid: keysFromSecrets(OTHER_SECRET).sealing().kid,
    });
    expect(await plain.open({ token: fresh, ...open })).toEqual({
      ok: false,
      cause: "kid_unknown",
    });
  });
});

describe("The size limit", () => {
  it("is told exactly beforehand, in both forms and for multi-byte text", async () => {
    for (const text of ["", "a", "ab", "abc", "ä€😀"]) {
      for (const confidential of [false, true]) {
        const some = { ...input, payload: { text }, confidential };
        const token = await plain.seal(some);
        expect(plain.size(some)).toBe(token.length);
        expect(plain.size(token)).toBe(token.length);
      }
    }
  });

  it("lets a token of exactly maxBytes through and refuses to seal one byte more", async () => {
    const padded = (length: number) => ({ ...input, payload: { text: "x".repeat(length) } });
    const large = padded(1200);
    const maxBytes = plain.size(large);
    const sealer = createStateSealer({ keys: keysFromSecrets(SECRET), maxBytes });
    const token = await sealer.seal(large);
    expect(await sealer.open({ token, binding, nowMs: NOW_MS })).toHaveProperty("ok", true);
    const larger = padded(1201);
    const bytes = sealer.size(larger);
    expect(bytes).toBeGreaterThan(maxBytes);
    expect(() => sealer.seal(larger)).toThrow(
      expect.objectContaining({ code: "STATE_TOO_LARGE", data: { bytes, maxBytes } }),
    );
  });

  // promise P5.8
  it("is 32 KiB unless told otherwise", () => {
    expect(plain.maxBytes).toBe(32_768);
  });
});

describe("A key source that has to look", () => {
  const key = keysFromSecrets(SECRET).sealing();
  const looking = (found: Awaited<ReturnType<KeySource["find"]>>) =>
    createStateSealer({ keys: { sealing: () => key, find: async () => found as typeof key } });

  it("is waited for", async () => {
    const reply = looking(key).open({ token: plain.seal(input), binding, nowMs: NOW_MS });
    expect(reply).toBeInstanceOf(Promise);
    expect(await reply).toHaveProperty("ok", true);
  });

  it("makes a kid that it does not know a refusal", async () => {
    const reply = looking(undefined).open({
      token: await plain.seal(input),
      binding,
      nowMs: NOW_MS,
    });
    expect(await reply).toEqual({ ok: false, cause: "kid_unknown" });
  });

  it("makes its outage a retryable answer and never a refusal", async () => {
    const reply = looking("unavailable").open({
      token: await plain.seal(input),
      binding,
      nowMs: NOW_MS,
    });
    expect(await reply).toEqual({ ok: false, cause: "ring_unavailable", retryable: true });
  });
});

describe("Misuse by the program", () => {
  it("is thrown when an option can't be used, and names it", () => {
    const keys = ephemeralKeys();
    expect(() => createStateSealer({ keys, maxBytes: 1023 })).toThrow(/maxBytes/);
    expect(() => createStateSealer({ keys, maxBytes: Number.NaN })).toThrow(RangeError);
    expect(() => createStateSealer({ keys: {} as KeySource })).toThrow(/keys/);
    expect(() => createStateSealer({ keys, encrypt: "yes" as never })).toThrow(/encrypt/);
  });

  it.each([
    ["payload", { payload: [] as never }],
    ["payload", { payload: null as never }],
    ["payload", { payload: new Date(0) as never }],
    ["binding.principal", { binding: { ...binding, principal: "" } }],
    ["binding.params", { binding: { ...binding, params: undefined as never } }],
    ["issuedAtMs", { issuedAtMs: 0.5 }],
    ["expiresAtMs", { expiresAtMs: Number.POSITIVE_INFINITY }],
    ["expiresAtMs", { expiresAtMs: input.issuedAtMs }],
    ["confidential", { confidential: undefined as never }],
  ])("is thrown when %s can't be sealed", (name, change) => {
    expect(() => plain.seal({ ...input, ...change })).toThrow(name);
  });

  it("is thrown when open gets no usable clock or binding, whatever the token", () => {
    const token = plain.seal(input);
    expect(() => plain.open({ token, binding, nowMs: Number.NaN })).toThrow(/nowMs/);
    expect(() => plain.open({ token: 7, binding: { ...binding, params: "" }, nowMs: 0 })).toThrow(
      /binding\.params/,
    );
  });

  it("is no coded error, because no caller of the server can mend it", () => {
    expect(() => plain.seal({ ...input, issuedAtMs: -1 })).toThrow(
      expect.toSatisfy((error) => !isRepriseError(error)),
    );
  });
});
