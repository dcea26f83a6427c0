import {
  type KeyLife,
  maySeal,
  OPENS_AFTER_EXPIRY_MS,
  opensUntilMs,
  standingOf,
} from "@reprise/request-state";
import fc from "fast-check";
import { expect, it } from "vitest";
import { seed } from "../../../test/support/config.ts";

const life: KeyLife = { newestExpiryMs: 1000, revoked: false };

// promise P5.10
it("A key opens states until its newest expiry plus 30 days", () => {
  expect(OPENS_AFTER_EXPIRY_MS).toBe(2_592_000_000);
  expect(opensUntilMs(life)).toBe(2_592_001_000);
  expect(standingOf(life, 2_592_000_999)).toBe("good");
  expect(standingOf(life, 2_592_001_000)).toBe("ended");
});

it("A key that may seal a state opens it for at least 30 days after the state's expiry", () => {
  const time = fc.nat({ max: 2 ** 45 });
  fc.assert(
    fc.property(time, time, fc.nat({ max: OPENS_AFTER_EXPIRY_MS - 1 }), (newest, expiry, later) => {
      const some = { newestExpiryMs: newest, revoked: false };
      fc.pre(maySeal(some, expiry));
      expect(standingOf(some, expiry + later)).toBe("good");
    }),
    { seed },
  );
});

it("A revoked key neither seals nor opens, at any time", () => {
  const revoked = { ...life, revoked: true };
  for (const nowMs of [0, 999, 1000, 2 ** 50]) {
    expect(standingOf(revoked, nowMs)).toBe("revoked");
    expect(maySeal(revoked, nowMs)).toBe(false);
  }
});

it("A key does not seal a state that expires after the newest expiry it was published with", () => {
  expect(maySeal(life, 1000)).toBe(true);
  expect(maySeal(life, 1001)).toBe(false);
});

it("A configured key has no life and is good for ever", () => {
  expect(standingOf(undefined, 2 ** 52)).toBe("good");
  expect(maySeal(undefined, 2 ** 52)).toBe(true);
});

it("A life that is no number ends the key instead of keeping it for ever", () => {
  const broken = { newestExpiryMs: Number.NaN, revoked: false };
  expect(standingOf(broken, 0)).toBe("ended");
  expect(maySeal(broken, 0)).toBe(false);
});
