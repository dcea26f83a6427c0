import { deriveKey, ephemeralKeys, keysFromSecrets } from "@reprise/request-state";
import { describe, expect, it } from "vitest";
import { OTHER_SECRET, SECRET } from "./support/fixtures.ts";

const kidOf = (secret: string | Uint8Array): string => keysFromSecrets(secret).sealing().kid;

describe("Keys from secrets", () => {
  it("are the same in every process, for a string and for its bytes", () => {
    expect(kidOf(SECRET)).toBe(kidOf(Buffer.from(SECRET)));
    expect(kidOf(SECRET)).toBe(kidOf(new TextEncoder().encode(SECRET)));
    expect(kidOf(SECRET)).not.toBe(kidOf(OTHER_SECRET));
    expect(kidOf(SECRET)).not.toBe(kidOf(`${SECRET}\n`));
  });

  // promise P5.12
  it("seal with the first and find all, once each", () => {
    const keys = keysFromSecrets([OTHER_SECRET, Buffer.from(SECRET), OTHER_SECRET]);
    expect(keys.sealing().kid).toBe(kidOf(OTHER_SECRET));
    expect(keys.find(kidOf(SECRET))).toMatchObject({ kid: kidOf(SECRET) });
    expect(keys.find(kidOf(OTHER_SECRET))).toMatchObject({ kid: kidOf(OTHER_SECRET) });
    expect(keys.find("A".repeat(22))).toBeUndefined();
  });

  // promise P5.12
  it("have three unlike outputs, none of which is or holds the secret", () => {
    const { kid, signing, encryption } = keysFromSecrets(SECRET).sealing();
    const outputs = [Buffer.from(kid, "base64url"), signing.export(), encryption.export()];
    expect(outputs.map((bytes) => bytes.length)).toEqual([16, 32, 32]);
    const [id, mac, aes] = outputs.map((bytes) => bytes.toString("hex"));
    expect(mac).not.toBe(aes);
    expect(mac?.startsWith(id ?? "")).toBe(false);
    expect(aes?.startsWith(id ?? "")).toBe(false);
    const secret = Buffer.from(SECRET).toString("hex");
    expect([mac, aes, id].every((text) => text !== undefined && !secret.includes(text))).toBe(true);
  });

  it("do not change when the caller wipes the bytes it gave", () => {
    const bytes = Buffer.from(SECRET);
    const list = [bytes];
    const keys = keysFromSecrets(list);
    bytes.fill(0);
    list.length = 0;
    expect(keys.sealing().kid).toBe(kidOf(SECRET));
    expect(keys.sealing().signing.equals(keysFromSecrets(SECRET).sealing().signing)).toBe(true);
  });

  it("are refused when a secret is shorter than 32 bytes, without showing it", () => {
    const short = "only-thirty-one-bytes-long-0123";
    expect(Buffer.byteLength(short)).toBe(31);
    for (const secrets of [short, Buffer.from(short), [SECRET, short]]) {
      expect(() => keysFromSecrets(secrets)).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.not.stringContaining("thirty"),
        }),
      );
    }
    expect(() => deriveKey(Buffer.from(short))).toThrow(RangeError);
    expect(() => keysFromSecrets(`${short}!`)).not.toThrow();
  });

  it("count bytes and not characters", () => {
    expect(() => keysFromSecrets("ä".repeat(16))).not.toThrow();
    expect(() => keysFromSecrets("ä".repeat(15))).toThrow(/30 bytes/);
  });

  it("are refused when there is none, or one is no secret", () => {
    expect(() => keysFromSecrets([])).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => keysFromSecrets("")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => keysFromSecrets(undefined as never)).toThrow(TypeError);
    expect(() => keysFromSecrets([SECRET, 7 as never])).toThrow(/requestStateKey\[1\]/);
  });
});

describe("An ephemeral key", () => {
  it("is another one each time, and the same as long as its source lives", () => {
    const keys = ephemeralKeys();
    expect(keys.sealing()).toBe(keys.sealing());
    expect(keys.find(keys.sealing().kid)).toBe(keys.sealing());
    expect(ephemeralKeys().find(keys.sealing().kid)).toBeUndefined();
  });
});
