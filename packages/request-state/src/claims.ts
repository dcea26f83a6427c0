/**
 * The sealed text inside a token: its members, its version, and the parser of its JSON.
 *
 * The sealer writes it before sealing and reads it only after integrity is proved. The times are named in
 * milliseconds on purpose: `iat` and `exp` are seconds wherever JWT libraries meet them, and a token that looked
 * like a JWT with a date in the year 58,000 would never expire for them.
 *
 * 1. `v` changes with every change of the member set. A reader refuses a version it does not know and a member
 *    it does not expect: a release must not act on half of what another one sealed.
 * 2. `form` repeats the token's form under the seal (see sealer.ts for what that prevents).
 */
import type { StateBinding } from "./binding.ts";
import type { StateForm } from "./form.ts";

/** The version that this release writes. It reads 1. */
const FORMAT_VERSION = 1;

/** A JSON object chosen by the caller; opaque here. Values that JSON drops or changes do not come back. */
export interface SealedPayload {
  readonly [member: string]: unknown;
}

/** What is sealed. */
export interface Claims {
  readonly form: StateForm;
  readonly binding: StateBinding;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  readonly payload: SealedPayload;
}

interface ClaimsJson {
  readonly v: unknown;
  readonly form: unknown;
  readonly aud: unknown;
  readonly op: unknown;
  readonly sub: unknown;
  readonly par: unknown;
  readonly iatMs: unknown;
  readonly expMs: unknown;
  readonly state: unknown;
}
const memberCount = 9;

/** The text of the claims. The member order is part of the golden tokens, not of the format: readers ignore it. */
export function writeClaims({ form, binding, issuedAtMs, expiresAtMs, payload }: Claims): string {
  const json: ClaimsJson = {
    v: FORMAT_VERSION,
    form,
    aud: binding.audience,
    op: binding.operation,
    sub: binding.principal,
    par: binding.params,
    iatMs: issuedAtMs,
    expMs: expiresAtMs,
    state: payload,
  };
  return JSON.stringify(json);
}

/** Reads authentic bytes. `format`: sealed by a release with another format; `payload`: not claims at all. */
export function readClaims(bytes: Buffer): Claims | "format" | "payload" {
  const json = parseObject(bytes);
  if (json === undefined) return "payload";
  if (json.v !== FORMAT_VERSION) return Number.isSafeInteger(json.v) ? "format" : "payload";
  const { form, aud, op, sub, par, iatMs, expMs, state } = json;
  if (Object.keys(json).length !== memberCount) return "payload";
  if (form !== "jws" && form !== "jwe") return "payload";
  if (!isText(aud) || !isText(op) || !isText(sub) || !isText(par)) return "payload";
  if (!isTime(iatMs) || !isTime(expMs) || expMs <= iatMs || !isPayload(state)) return "payload";
  const binding = { audience: aud, operation: op, principal: sub, params: par };
  return { form, binding, issuedAtMs: iatMs, expiresAtMs: expMs, payload: state };
}

/** Whether `value` can be a payload: an object that is not an array. */
export function isPayload(value: unknown): value is SealedPayload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` is a time in whole milliseconds since the epoch. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function parseObject(bytes: Buffer): ClaimsJson | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isPayload(value) ? (value as unknown as ClaimsJson) : undefined;
  } catch {
    // Authentic bytes that are no JSON: sealed with our key by something that is not a release of ours.
    return undefined;
  }
}
