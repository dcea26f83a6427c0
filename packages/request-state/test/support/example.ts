import { createStateSealer, keysFromSecrets } from "@reprise/request-state";

const sealer = createStateSealer({ keys: keysFromSecrets("replace me: openssl rand -base64 48") });
const binding = { audience: "shop", operation: "refund_order", principal: "ada", params: "A-17" };
const issuedAtMs = Date.now();
const expiresAtMs = issuedAtMs + 24 * 60 * 60 * 1000;

const payload = { run: "r-1", round: 1 };
const token = await sealer.seal({ payload, binding, issuedAtMs, expiresAtMs, confidential: false });

export const opened = await sealer.open({ token, binding, nowMs: Date.now() });
// { ok: true, payload: { run: "r-1", round: 1 }, expired: false, ... }

export const stolen = await sealer.open({
  token,
  binding: { ...binding, principal: "mallory" },
  nowMs: Date.now(),
});
// { ok: false, cause: "principal" }
