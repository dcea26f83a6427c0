/**
 * The judge: an independent JOSE library must agree with this package in both directions.
 */
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify } from "jose";
import { describe, expect, it } from "vitest";
import { binding, causeOf, claimsOf, input, NOW_MS, SECRET } from "./support/fixtures.ts";

const keys = keysFromSecrets(SECRET);
const { kid, signing, encryption } = keys.sealing();
const sealer = createStateSealer({ keys });
const textOf = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());
const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const judge = async (token: string): Promise<string> =>
  causeOf(await sealer.open({ token, binding, nowMs: NOW_MS }));

describe("jose", () => {
  // promise P5.1
  it("verifies our JWS and reads the header and claims that we wrote", async () => {
    const verified = await compactVerify(await sealer.seal(input), signing, {
      algorithms: ["HS256"],
    });
    expect(verified.protectedHeader).toEqual({ alg: "HS256", kid, typ: "reprise-state" });
    expect(textOf(verified.payload)).toEqual(claimsOf("jws"));
  });

  it("decrypts our JWE and reads the header and claims that we wrote", async () => {
    const token = await sealer.seal({ ...input, confidential: true });
    const opened = await compactDecrypt(token, encryption, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    expect(opened.protectedHeader).toEqual({
      alg: "dir",
      enc: "A256GCM",
      kid,
      typ: "reprise-state",
    });
    expect(textOf(opened.plaintext)).toEqual(claimsOf("jwe"));
  });

  it("makes a JWS that we open, the very same token for the same header and claims", async () => {
    const token = await new CompactSign(bytesOf(claimsOf("jws")))
      .setProtectedHeader({ alg: "HS256", kid, typ: "reprise-state" })
      .sign(signing);
    expect(await judge(token)).toBe("opened");
    expect(token).toBe(await sealer.seal(input));
  });

  it("makes a JWE that we open", async () => {
    const token = await new CompactEncrypt(bytesOf(claimsOf("jwe")))
      .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid, typ: "reprise-state" })
      .encrypt(encryption);
    expect(await judge(token)).toBe("opened");
  });

  it("accepts a header in another order where we refuse it: our rule is narrower than JOSE", async () => {
    const token = await new CompactSign(bytesOf(claimsOf("jws")))
      .setProtectedHeader({ typ: "reprise-state", kid, alg: "HS256" })
      .sign(signing);
    await expect(compactVerify(token, signing)).resolves.toHaveProperty("payload");
    expect(await judge(token)).toBe("header");
  });

  // promise P5.3
  it("accepts an altered last character where we refuse it: why encoding is checked first", async () => {
    const token = await sealer.seal(input);
    const bytes = Buffer.from(token.split(".")[2] ?? "", "base64url");
    const twin = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      .split("")
      .map((last) => token.slice(0, -1) + last)
      .find((t) => t !== token && Buffer.from(t.split(".")[2] ?? "", "base64url").equals(bytes));
    await expect(compactVerify(twin ?? "", signing)).resolves.toHaveProperty("payload");
    expect(await judge(twin ?? "")).toBe("malformed");
  });

  it("refuses each form under the other form's subkey", async () => {
    await expect(compactVerify(await sealer.seal(input), encryption)).rejects.toThrow();
    const token = await sealer.seal({ ...input, confidential: true });
    await expect(compactDecrypt(token, signing)).rejects.toThrow();
  });
});
