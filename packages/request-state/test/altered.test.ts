import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { expect, it } from "vitest";
import { alterationKinds, alterTokens } from "../../../test/support/tamper.ts";
import { binding, causeOf, input, NOW_MS, OTHER_SECRET, SECRET } from "./support/fixtures.ts";

const COUNT = 100_000;

// Two keys in one source, so that kid swaps name a key that exists.
const keys = keysFromSecrets([SECRET, OTHER_SECRET]);
const sealer = createStateSealer({ keys });
const other = createStateSealer({ keys: keysFromSecrets(OTHER_SECRET) });

async function genuineTokens(): Promise<readonly string[]> {
  const tokens: string[] = [];
  for (const by of [sealer, other]) {
    for (const confidential of [false, true]) {
      // Three lengths: each number of stray bits in the last character of the body.
      for (const pad of ["", "x", "xx"]) {
        tokens.push(await by.seal({ ...input, payload: { run: "r-1", pad }, confidential }));
      }
    }
  }
  return tokens;
}

it("None of 100,000 altered tokens opens, and every kind of alteration was among them", async () => {
  const tokens = await genuineTokens();
  for (const token of tokens) {
    expect(sealer.open({ token, binding, nowMs: NOW_MS })).toHaveProperty("ok", true);
  }
  const opened: unknown[] = [];
  const kinds = new Map<string, number>();
  const causes = new Map<string, number>();
  for (const { kind, token } of alterTokens({ seed: 20_260_728, count: COUNT, tokens })) {
    const cause = causeOf(await sealer.open({ token, binding, nowMs: NOW_MS }));
    if (cause === "opened") opened.push({ kind, token });
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    causes.set(cause, (causes.get(cause) ?? 0) + 1);
  }
  expect(opened).toEqual([]);
  expect([...kinds.keys()].sort()).toEqual([...alterationKinds].sort());
  expect(Math.min(...kinds.values())).toBeGreaterThan(100);
  // Integrity comes first: without the key nobody gets as far as the claims or the binding.
  expect([...causes.keys()].sort()).toEqual(["header", "kid_unknown", "malformed", "seal_broken"]);
});

it("The same seed alters the same tokens in the same way", async () => {
  const tokens = await genuineTokens();
  const first = [...alterTokens({ seed: 7, count: 500, tokens })];
  expect([...alterTokens({ seed: 7, count: 500, tokens })]).toEqual(first);
  expect([...alterTokens({ seed: 8, count: 500, tokens })]).not.toEqual(first);
});
