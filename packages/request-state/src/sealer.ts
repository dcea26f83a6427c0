/**
 * Seals payloads into tokens and opens tokens again (design section 5).
 *
 * The runtime calls it: `seal` when a round ends in questions, `open` when a request brings a state. It owns the
 * envelope and the key rules; it never looks into a payload, keeps no token, and reads no clock.
 *
 * 1. Order of judgement: size, encoding, header, key, integrity, the key's life, format, form, binding. Nothing
 *    that a token says is believed, or even parsed, before its integrity is proved.
 * 2. Expiry is reported, not judged: it limits a state's first use only, and only the run's record knows whether
 *    this one is the first.
 * 3. A refusal is a value. What the client gets to see is one answer for all causes; that is the caller's part.
 *    Exceptions are for a caller who passes nonsense, and for a state too large to be opened again.
 * 4. Form. An instance opens both forms whatever `encrypt` says: turning `encryptRequestState` on must not end
 *    dialogues whose signed states were handed out before, and refusing those would hide nothing any more. But
 *    the form is also claimed under the seal, and a signed token that claims to be encrypted is refused: the
 *    separate subkeys already stop an outsider from turning one into the other, the claim stops ourselves, or
 *    whoever holds the signing subkey only, from passing off in plain text what was decided to be confidential.
 * 5. No await where the key is at hand: the common case stays in one turn and one promise is saved per call.
 */
import { RepriseError } from "@reprise/errors";
import { encodedLength } from "./base64url.ts";
import { assertBinding, differingMember } from "./binding.ts";
import { type Claims, isPayload, isTime, readClaims, writeClaims } from "./claims.ts";
import type {
  OpenInput,
  OpenReply,
  SealInput,
  StateRefusalCause,
  StateSealer,
} from "./contract.ts";
import { type JweEnvelope, type JwsEnvelope, readEnvelope } from "./envelope.ts";
import { headerPart, headerPartLength, type StateForm } from "./form.ts";
import { maySeal, standingOf } from "./keyLife.ts";
import type { KeySource, OpeningKey, SealingKey } from "./keys.ts";
import {
  decrypt,
  encrypt,
  IV_BYTES,
  isSignature,
  MAC_BYTES,
  sign,
  TAG_BYTES,
} from "./primitives.ts";

/** Default of `maxBytes`: 32 KiB. */
const DEFAULT_MAX_BYTES = 32_768;
/** No useful token is smaller; a limit below would refuse every state and is surely a mistaken unit. */
const LEAST_MAX_BYTES = 1024;

/** What a sealer is made from. */
export interface StateSealerOptions {
  /** Where keys come from; asked anew for every state. */
  readonly keys: KeySource;
  /**
   * `maxRequestStateBytes`: largest token, in bytes, default 32768, at least 1024. Lowering it below what is in
   * clients' hands refuses their states.
   */
  readonly maxBytes?: number | undefined;
  /** `encryptRequestState`: seal everything as JWE, default false. States sealed before still open. */
  readonly encrypt?: boolean | undefined;
}

/**
 * Makes a sealer.
 * @throws TypeError or RangeError naming the option that can't be used.
 */
export function createStateSealer(options: StateSealerOptions): StateSealer {
  const { keys, maxBytes = DEFAULT_MAX_BYTES, encrypt: encryptAll = false } = options;
  if (typeof keys?.sealing !== "function" || typeof keys.find !== "function") {
    throw new TypeError("keys must be a KeySource");
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < LEAST_MAX_BYTES) {
    throw new RangeError(`maxBytes must be an integer of at least ${LEAST_MAX_BYTES}`);
  }
  if (typeof encryptAll !== "boolean") throw new TypeError("encrypt must be a boolean");

  const textOf = (input: SealInput): { form: StateForm; text: Buffer } => {
    const form: StateForm = encryptAll || input.confidential ? "jwe" : "jws";
    return { form, text: Buffer.from(claimsText(input, form), "utf8") };
  };

  return {
    maxBytes,
    size(subject) {
      if (typeof subject === "string") return Buffer.byteLength(subject, "utf8");
      const { form, text } = textOf(subject);
      return tokenBytes(form, text.length);
    },
    seal(input) {
      const { form, text } = textOf(input);
      const bytes = tokenBytes(form, text.length);
      if (bytes > maxBytes) {
        const message = `The sealed state would have ${bytes} bytes; maxRequestStateBytes allows ${maxBytes}.`;
        throw new RepriseError("STATE_TOO_LARGE", message, { data: { bytes, maxBytes } });
      }
      const key = keys.sealing();
      if (!maySeal(key.life, input.expiresAtMs)) {
        throw new RangeError(
          `expiresAtMs lies beyond the life of key ${key.kid}, or it is revoked`,
        );
      }
      return form === "jws" ? writeJws(key, text) : writeJwe(key, text);
    },
    open(input) {
      assertBinding(input.binding);
      // NaN would compare as "not yet expired".
      if (!isTime(input.nowMs)) throw new RangeError("nowMs must be a time in whole milliseconds");
      const envelope = readEnvelope(input.token, maxBytes);
      if (typeof envelope === "string") return refused(envelope);
      const found = keys.find(envelope.kid);
      return found instanceof Promise
        ? found.then((key) => openWith(key, envelope, input))
        : openWith(found, envelope, input);
    },
  };
}

function openWith(
  key: OpeningKey | undefined | "unavailable",
  envelope: JwsEnvelope | JweEnvelope,
  { binding, nowMs }: OpenInput,
): OpenReply {
  if (key === "unavailable") return { ok: false, cause: "ring_unavailable", retryable: true };
  if (key === undefined) return refused("kid_unknown");
  const text = authenticText(key, envelope);
  if (text === undefined) return refused("seal_broken");
  // After integrity, so that the audit's "expired_key" means a state we made and not any old forgery.
  const standing = standingOf(key.life, nowMs);
  if (standing !== "good") return refused(standing === "revoked" ? "revoked_key" : "expired_key");
  const claims = readClaims(text);
  if (typeof claims === "string") return refused(claims);
  if (claims.form !== envelope.form) {
    return refused(envelope.form === "jws" ? "plain_where_sealed" : "payload");
  }
  const differing = differingMember(claims.binding, binding);
  if (differing !== undefined) return refused(differing);
  const { payload, issuedAtMs, expiresAtMs } = claims;
  return {
    ok: true,
    payload,
    issuedAtMs,
    expiresAtMs,
    expired: nowMs >= expiresAtMs,
    kid: key.kid,
  };
}

/** The text that the key has sealed; undefined when it has not sealed this. */
export function authenticText(
  key: OpeningKey,
  envelope: JwsEnvelope | JweEnvelope,
): Buffer | undefined {
  if (envelope.form === "jws") {
    return isSignature(key.signing, envelope.signed, envelope.mac) ? envelope.body : undefined;
  }
  const { header, iv, body: ciphertext, tag } = envelope;
  return decrypt(key.encryption, header, { iv, ciphertext, tag });
}

function writeJws(key: SealingKey, text: Buffer): string {
  const signed = `${headersOf(key).jws}.${text.toString("base64url")}`;
  return `${signed}.${sign(key.signing, signed).toString("base64url")}`;
}

function writeJwe(key: SealingKey, text: Buffer): string {
  const header = headersOf(key).jwe;
  const { iv, ciphertext, tag } = encrypt(key.encryption, header, text);
  return `${header}..${iv.toString("base64url")}.${ciphertext.toString("base64url")}.${tag.toString("base64url")}`;
}

const headers = new WeakMap<SealingKey, Readonly<Record<StateForm, string>>>();

function headersOf(key: SealingKey): Readonly<Record<StateForm, string>> {
  let parts = headers.get(key);
  if (parts === undefined) {
    parts = { jws: headerPart("jws", key.kid), jwe: headerPart("jwe", key.kid) };
    headers.set(key, parts);
  }
  return parts;
}

/** Exact size of the token of a text, without sealing it. */
function tokenBytes(form: StateForm, textBytes: number): number {
  const header = headerPartLength[form];
  const body = encodedLength(textBytes);
  if (form === "jws") return header + 1 + body + 1 + encodedLength(MAC_BYTES);
  return header + 2 + encodedLength(IV_BYTES) + 1 + body + 1 + encodedLength(TAG_BYTES);
}

function claimsText(input: SealInput, form: StateForm): string {
  const { payload, binding, issuedAtMs, expiresAtMs } = input;
  assertBinding(binding);
  // A toJSON would seal something else than an object, perhaps: a token that nothing opens.
  if (!isPayload(payload) || typeof payload["toJSON"] === "function") {
    throw new TypeError("payload must be a plain object");
  }
  // Left undefined by a caller without types, it would quietly mean "signed": plain where it should be sealed.
  if (typeof input.confidential !== "boolean")
    throw new TypeError("confidential must be a boolean");
  if (!isTime(issuedAtMs)) throw new RangeError("issuedAtMs must be a time in whole milliseconds");
  if (!isTime(expiresAtMs) || expiresAtMs <= issuedAtMs) {
    throw new RangeError("expiresAtMs must be a time in whole milliseconds after issuedAtMs");
  }
  const claims: Claims = { form, binding, issuedAtMs, expiresAtMs, payload };
  return writeClaims(claims);
}

function refused(cause: StateRefusalCause): OpenReply {
  return { ok: false, cause };
}
