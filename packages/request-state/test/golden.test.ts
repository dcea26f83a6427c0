/**
 * The format of released tokens. golden/v1.json was written once and is never written again: if a test here
 * fails, the code is wrong, and every dialogue that is open at the time of the deploy would end.
 */
import { readFileSync } from "node:fs";
import { createStateSealer, keysFromSecrets, type SealInput } from "@reprise/request-state";
import { describe, expect, it } from "vitest";

interface GoldenToken {
  readonly title: string;
  readonly secret: number;
  readonly input: SealInput;
  readonly token: string;
}
interface GoldenFile {
  readonly secrets: readonly string[];
  readonly keys: readonly { kid: string; signingHex: string; encryptionHex: string }[];
  readonly tokens: readonly GoldenToken[];
}

const golden = JSON.parse(
  readFileSync(new URL("./golden/v1.json", import.meta.url), "utf8"),
) as GoldenFile;

describe("Format 1", () => {
  // promise P5.12
  it("derives the same kid and subkeys from the same secret", () => {
    const derived = golden.secrets.map((secret) => {
      const { kid, signing, encryption } = keysFromSecrets(secret).sealing();
      const hex = (key: typeof signing) => key.export().toString("hex");
      return { kid, signingHex: hex(signing), encryptionHex: hex(encryption) };
    });
    expect(derived).toEqual(golden.keys);
  });

  // promise P3.9.7
  it.each(golden.tokens)("opens $title", async ({ input, token, secret }) => {
    for (const encrypt of [false, true]) {
      const sealer = createStateSealer({ keys: keysFromSecrets(golden.secrets), encrypt });
      const { binding, issuedAtMs, expiresAtMs, payload } = input;
      expect(await sealer.open({ token, binding, nowMs: issuedAtMs })).toEqual({
        ok: true,
        payload,
        issuedAtMs,
        expiresAtMs,
        expired: false,
        kid: golden.keys[secret]?.kid,
      });
    }
  });

  it.each(golden.tokens.filter((each) => !each.input.confidential))(
    "writes the same bytes as ever for $title",
    async ({ input, token, secret }) => {
      const keys = keysFromSecrets(golden.secrets[secret] ?? "");
      expect(await createStateSealer({ keys }).seal(input)).toBe(token);
    },
  );

  it("has a signed and an encrypted token of each secret", () => {
    const kinds = golden.tokens.map(({ secret, input }) => `${secret}${input.confidential}`);
    expect([...new Set(kinds)].sort()).toEqual(["0false", "0true", "1false", "1true"]);
  });
});
