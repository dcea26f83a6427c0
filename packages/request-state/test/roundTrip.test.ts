import { createStateSealer, keysFromSecrets, type SealedPayload } from "@reprise/request-state";
import fc from "fast-check";
import { expect, it } from "vitest";
import { seed } from "../../../test/support/config.ts";
import { alterTokens } from "../../../test/support/tamper.ts";
import { binding, causeOf, NOW_MS, OTHER_SECRET, SECRET } from "./support/fixtures.ts";

const keys = keysFromSecrets([SECRET, OTHER_SECRET]);
const payloads: fc.Arbitrary<SealedPayload> = fc
  .dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" }))
  // What JSON itself changes (-0) is not this package's to keep.
  .map((value) => JSON.parse(JSON.stringify(value)) as SealedPayload);
const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
const bindings = fc.record({ audience: text, operation: text, principal: text, params: text });
const inputs = fc
  .record({
    payload: payloads,
    binding: bindings,
    issuedAtMs: fc.nat({ max: 2 ** 42 }),
    lifetimeMs: fc.integer({ min: 1, max: 2 ** 32 }),
    confidential: fc.boolean(),
  })
  .map(({ lifetimeMs, ...rest }) => ({ ...rest, expiresAtMs: rest.issuedAtMs + lifetimeMs }));

it("Every JSON payload under every binding comes back as it was, and expired exactly from its expiry on", async () => {
  const property = fc.asyncProperty(
    inputs,
    fc.boolean(),
    fc.nat({ max: 2 ** 43 }),
    async (input, encrypt, nowMs) => {
      const sealer = createStateSealer({ keys, encrypt, maxBytes: 10_000_000 });
      const token = await sealer.seal(input);
      expect(token.length).toBe(sealer.size(input));
      expect(token.split(".")).toHaveLength(encrypt || input.confidential ? 5 : 3);
      expect(await sealer.open({ token, binding: input.binding, nowMs })).toEqual({
        ok: true,
        payload: input.payload,
        issuedAtMs: input.issuedAtMs,
        expiresAtMs: input.expiresAtMs,
        expired: nowMs >= input.expiresAtMs,
        kid: keys.sealing().kid,
      });
    },
  );
  await fc.assert(property, { numRuns: 300, seed });
});

it("A state opens for a binding if and only if all four strings are equal", async () => {
  const sealer = createStateSealer({ keys });
  const few = fc.constantFrom("a", "b", "aa");
  const small = fc.record({ audience: few, operation: few, principal: few, params: few });
  const property = fc.asyncProperty(
    small,
    small,
    fc.boolean(),
    async (sealed, presented, confidential) => {
      const times = { issuedAtMs: NOW_MS, expiresAtMs: NOW_MS + 1 };
      const token = await sealer.seal({ payload: {}, binding: sealed, ...times, confidential });
      const cause = causeOf(await sealer.open({ token, binding: presented, nowMs: NOW_MS }));
      const members = ["audience", "operation", "principal", "params"] as const;
      expect(cause).toBe(members.find((name) => sealed[name] !== presented[name]) ?? "opened");
    },
  );
  await fc.assert(property, { numRuns: 300, seed });
});

it("No alteration of tokens of random payloads opens", async () => {
  const sealer = createStateSealer({ keys });
  const property = fc.asyncProperty(inputs, inputs, fc.integer(), async (one, two, seed) => {
    const pair = [
      await sealer.seal({ ...one, binding }),
      await sealer.seal({ ...two, binding, confidential: !one.confidential }),
    ];
    for (const { token } of alterTokens({ seed, count: 60, tokens: pair })) {
      expect(causeOf(await sealer.open({ token, binding, nowMs: NOW_MS }))).not.toBe("opened");
    }
  });
  await fc.assert(property, { numRuns: 100, seed });
});

it("Anything that a client may send gets a reply and never an exception", () => {
  const sealer = createStateSealer({ keys });
  const dotted = fc
    .array(fc.string({ unit: "binary" }), { maxLength: 7 })
    .map((parts) => parts.join("."));
  fc.assert(
    fc.property(fc.oneof(fc.anything(), dotted), (token) => {
      expect(sealer.open({ token, binding, nowMs: NOW_MS })).toHaveProperty("ok", false);
    }),
    { numRuns: 1000, seed },
  );
});
