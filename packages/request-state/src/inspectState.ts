/**
 * What a token says, for an operator who has one in hand: header, seal, times, bindings. It judges nothing for a client.
 *
 * `reprise state inspect` calls it. Anyone may read a signed token's text; here it is told apart from what our key has sealed.
 */
import { type Claims, readClaims } from "./claims.ts";
import { type EnvelopeFault, readEnvelope } from "./envelope.ts";
import type { StateForm } from "./form.ts";
import { type KeyStanding, standingOf } from "./keyLife.ts";
import type { KeySource } from "./keys.ts";
import { authenticText } from "./sealer.ts";

/** Whether our key has sealed it. `unknown_key`: no such key is known here; `unavailable`: that could not be known. */
export type SealVerdict = "intact" | "broken" | "unknown_key" | "unavailable";

/** What a token says. */
export type StateInspection =
  | { readonly kind: "unreadable"; readonly fault: EnvelopeFault }
  | {
      readonly kind: "token";
      readonly form: StateForm;
      readonly kid: string;
      readonly seal: SealVerdict;
      /** What the key may still do; undefined where the key is not known. */
      readonly key: KeyStanding | undefined;
      /** Of a signed token whatever its seal, of an encrypted one only where its seal is intact. A word: why there are none. */
      readonly claims: Claims | "format" | "payload" | "encrypted";
    };

/** Largest token that is looked at: far above what deployments allow. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Takes a token apart. Refuses nothing and never throws for what the token is. */
export async function inspectState(
  token: string,
  keys: Pick<KeySource, "find">,
  nowMs: number,
): Promise<StateInspection> {
  const envelope = readEnvelope(token.trim(), MAX_BYTES);
  if (typeof envelope === "string") return { kind: "unreadable", fault: envelope };
  const { form, kid } = envelope;
  const found = await keys.find(kid);
  if (found === undefined || found === "unavailable") {
    const claims = form === "jws" ? readClaims(envelope.body) : "encrypted";
    const seal = found === undefined ? "unknown_key" : found;
    return { kind: "token", form, kid, seal, key: undefined, claims };
  }
  const text = authenticText(found, envelope);
  const readable = text ?? (envelope.form === "jws" ? envelope.body : undefined);
  return {
    ...{ kind: "token", form, kid, key: standingOf(found.life, nowMs) },
    seal: text === undefined ? "broken" : "intact",
    claims: readable === undefined ? "encrypted" : readClaims(readable),
  };
}
