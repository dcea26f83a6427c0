/** Comparisons of what a client brings with what is expected are the platform's constant-time one, wherever they differ. */
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { beforeEach, expect, it, vi } from "vitest";
import { binding, input, NOW_MS, SECRET } from "./support/fixtures.ts";

const compared = vi.hoisted(() => ({ lengths: [] as number[] }));
vi.mock("node:crypto", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:crypto")>();
  const timingSafeEqual: typeof real.timingSafeEqual = (left, right) => {
    compared.lengths.push(left.byteLength);
    return real.timingSafeEqual(left, right);
  };
  return { ...real, timingSafeEqual };
});

beforeEach(() => {
  compared.lengths = [];
});

const sealer = createStateSealer({ keys: keysFromSecrets(SECRET) });

// promise P5.30
it.each(["first", "last"])(
  "a signature whose %s byte differs is compared whole, and nothing after it is looked at",
  async (which) => {
    const [header, body, signature = ""] = (await sealer.seal(input)).split(".");
    const mac = Buffer.from(signature, "base64url");
    const at = which === "first" ? 0 : mac.length - 1;
    mac[at] = (mac[at] ?? 0) ^ 1;
    const token = [header, body, mac.toString("base64url")].join(".");
    expect(await sealer.open({ token, binding, nowMs: NOW_MS })).toMatchObject({ ok: false });
    expect(compared.lengths).toEqual([32]);
  },
);

// promise P5.30
it.each(["audience", "operation", "principal", "params"] as const)(
  "a state for another %s has all four members compared whole",
  async (name) => {
    const token = await sealer.seal(input);
    const other = { ...binding, [name]: `x${binding[name].slice(1)}` };
    expect(await sealer.open({ token, binding: other, nowMs: NOW_MS })).toMatchObject({
      ok: false,
    });
    const members = [binding.audience, binding.operation, binding.principal, binding.params];
    expect(compared.lengths).toEqual([32, ...members.map((text) => text.length * 2)]);
  },
);
