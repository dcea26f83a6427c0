/**
 * Makes altered tokens from genuine ones: what an attacker without a key can do, in bulk and repeatably.
 *
 * Used by the tests of packages/request-state and by end-to-end tests, which hold tokens as a client does. It needs no key and
 * knows only what a client can read. The same seed and tokens give the same alterations in the same order.
 *
 * 1. No result equals one of the genuine tokens given, so accepting any result is a failure.
 * 2. Every kind comes up equally often, as far as the tokens allow it (swaps need two, body edits a JWS).
 */
import { createCipheriv, createHash, createHmac } from "node:crypto";

/** One altered token. */
export interface AlteredToken {
  /** Which alteration made it. */
  readonly kind: string;
  readonly token: string;
}

/** What to alter and how often. */
export interface TamperOptions {
  readonly seed: number;
  readonly count: number;
  /** Genuine tokens, of either form, best of several kids. */
  readonly tokens: readonly string[];
}

/** Whole numbers from 0 to below `bound`. */
type Dice = (bound: number) => number;
type Alteration = (token: string, other: string, dice: Dice) => string | undefined;
type HeaderMembers = Record<string, unknown>;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("");

function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % bound;
  };
}

const pick = <T>(list: readonly T[], dice: Dice): T => list[dice(list.length)] as T;
const encode = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");
const decode = (part: string): Buffer => Buffer.from(part, "base64url");
const splice = (text: string, at: number, remove: number, insert: string): string =>
  text.slice(0, at) + insert + text.slice(at + remove);
const isJws = (parts: readonly string[]): boolean => parts.length === 3;

function withPart(parts: readonly string[], index: number, part: string): string {
  return parts.map((old, at) => (at === index ? part : old)).join(".");
}

function nonEmptyPart(parts: readonly string[], dice: Dice): number {
  const filled = parts.flatMap((part, index) => (part === "" ? [] : [index]));
  return pick(filled, dice);
}

/** An alteration of the header's JSON text, sealed parts untouched. */
function header(
  change: (members: HeaderMembers, dice: Dice, other: HeaderMembers) => string,
): Alteration {
  return (token, other, dice) => {
    const parts = token.split(".");
    const members = JSON.parse(decode(parts[0] ?? "").toString()) as HeaderMembers;
    const foreign = JSON.parse(decode(other.split(".")[0] ?? "").toString()) as HeaderMembers;
    return withPart(parts, 0, encode(change(members, dice, foreign)));
  };
}

/** An alteration of a JWS body's claims; `reseal` gives the signature part. */
function claims(reseal: (signed: string, old: string, dice: Dice) => string): Alteration {
  return (token, _other, dice) => {
    const parts = token.split(".");
    if (!isJws(parts)) return undefined;
    const members = JSON.parse(decode(parts[1] ?? "").toString()) as HeaderMembers;
    const name = pick(Object.keys(members), dice);
    const value = members[name];
    if (typeof value === "number") members[name] = value + 1 + dice(1_000_000);
    else if (typeof value === "string") members[name] = `${value}${pick(alphabet, dice)}`;
    else members[name] = { replaced: dice(1_000_000) };
    const signed = `${parts[0]}.${encode(JSON.stringify(members))}`;
    return `${signed}.${reseal(signed, parts[2] ?? "", dice)}`;
  };
}

const guessedKey = (token: string, dice: Dice): Buffer =>
  pick(
    [
      Buffer.alloc(0),
      Buffer.alloc(32),
      Buffer.from("secret"),
      decode(token.split(".")[0] ?? ""),
      createHash("sha256")
        .update(token.split(".")[0] ?? "")
        .digest(),
    ],
    dice,
  );

const alterations: Readonly<Record<string, Alteration>> = {
  // Bytes.
  flipBit: (token, _other, dice) => {
    const at = dice(token.length);
    return splice(token, at, 1, String.fromCharCode(token.charCodeAt(at) ^ (1 << dice(8))));
  },
  replaceCharacter: (token, _other, dice) =>
    splice(token, dice(token.length), 1, pick(alphabet, dice)),
  insertCharacter: (token, _other, dice) =>
    splice(token, dice(token.length + 1), 0, pick(alphabet, dice)),
  deleteCharacter: (token, _other, dice) => splice(token, dice(token.length), 1, ""),
  swapNeighbours: (token, _other, dice) => {
    const at = dice(token.length - 1);
    return splice(token, at, 2, `${token[at + 1]}${token[at]}`);
  },
  foreignCharacter: (token, _other, dice) =>
    splice(
      token,
      dice(token.length),
      dice(2),
      pick(["\u0000", "é", "\ud800", "Ａ", "%2E", "~", ":"], dice),
    ),
  flipDecodedBit: (token, _other, dice) => {
    const parts = token.split(".");
    const index = nonEmptyPart(parts, dice);
    const bytes = decode(parts[index] ?? "");
    const at = dice(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice(8));
    return withPart(parts, index, encode(bytes));
  },

  // Lengths.
  truncate: (token, _other, dice) => token.slice(0, dice(token.length)),
  cutHead: (token, _other, dice) => token.slice(1 + dice(token.length - 1)),
  extend: (token, _other, dice) =>
    token + pick([...alphabet, ".", "=", "A".repeat(99)], dice).repeat(1 + dice(4)),
  extendPart: (token, _other, dice) => {
    const parts = token.split(".");
    const index = dice(parts.length);
    return withPart(
      parts,
      index,
      encode(Buffer.concat([decode(parts[index] ?? ""), Buffer.alloc(1 + dice(8))])),
    );
  },
  shortenPart: (token, _other, dice) => {
    const parts = token.split(".");
    const index = nonEmptyPart(parts, dice);
    const bytes = decode(parts[index] ?? "");
    return withPart(parts, index, encode(bytes.subarray(0, dice(bytes.length))));
  },
  dropPart: (token, _other, dice) => {
    const parts = token.split(".");
    parts.splice(dice(parts.length), 1);
    return parts.join(".");
  },
  repeatPart: (token, _other, dice) => {
    const parts = token.split(".");
    parts.splice(dice(parts.length + 1), 0, pick(parts, dice));
    return parts.join(".");
  },
  joinTokens: (token, other, dice) => token + pick(["", ".", ",", " "], dice) + other,

  // Encodings that lenient decoders read as the same bytes.
  lastCharacter: (token, _other, dice) => {
    const parts = token.split(".");
    const index = nonEmptyPart(parts, dice);
    const part = parts[index] ?? "";
    return withPart(parts, index, part.slice(0, -1) + pick(alphabet, dice));
  },
  padding: (token, _other, dice) => {
    const parts = token.split(".");
    const index = dice(parts.length);
    return withPart(parts, index, `${parts[index]}${"=".repeat(1 + dice(3))}`);
  },
  whiteSpace: (token, _other, dice) =>
    splice(token, dice(token.length + 1), 0, pick([" ", "\n", "\t", "\r\n"], dice)),
  otherAlphabet: (token) => token.replaceAll("-", "+").replaceAll("_", "/"),
  otherCase: (token, _other, dice) => {
    const at = dice(token.length);
    const character = token[at] ?? "";
    const swapped =
      character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
    return splice(token, at, 1, swapped);
  },
  jsonSerialization: (token) => {
    const parts = token.split(".");
    const [first, second, third, fourth, fifth] = parts;
    return isJws(parts)
      ? JSON.stringify({ protected: first, payload: second, signature: third })
      : JSON.stringify({ protected: first, iv: third, ciphertext: fourth, tag: fifth });
  },

  // Header members.
  headerAlgorithm: header((members, dice) =>
    JSON.stringify({
      ...members,
      alg: pick(["none", "None", "HS512", "RS256", "A256KW", "dir", "HS256", "", null], dice),
    }),
  ),
  headerEncryption: header((members, dice) =>
    JSON.stringify({
      ...members,
      enc: pick(["A128GCM", "A128CBC-HS256", "none", "A256GCM", 7], dice),
    }),
  ),
  headerType: header((members, dice) =>
    JSON.stringify({
      ...members,
      typ: pick(["JWT", "reprise-session", "Reprise-State", "", null], dice),
    }),
  ),
  headerKid: header((members, dice) => {
    const kid = String(members["kid"]);
    const made = [
      splice(kid, dice(kid.length), 1, pick(alphabet, dice)),
      "",
      "__proto__",
      "constructor",
      kid.slice(1),
      `${kid}"`,
      null,
    ];
    return JSON.stringify({ ...members, kid: pick(made, dice) });
  }),
  headerExtraMember: header((members, dice) => {
    const [name, value] = pick(
      [
        ["crit", ["exp"]],
        ["crit", []],
        ["zip", "DEF"],
        ["b64", false],
        ["jku", "https://localhost/keys"],
        ["jwk", { kty: "oct", k: "" }],
        ["cty", "JWT"],
        ["x5c", []],
        ["__proto__", {}],
        [`x${dice(1_000_000)}`, 1],
      ] as const,
      dice,
    );
    return JSON.stringify(Object.fromEntries([...Object.entries(members), [name, value]]));
  }),
  headerMissingMember: header((members, dice) => {
    const gone = pick(Object.keys(members), dice);
    return JSON.stringify(
      Object.fromEntries(Object.entries(members).filter(([name]) => name !== gone)),
    );
  }),
  headerReordered: header((members, dice) => {
    const entries = Object.entries(members);
    const [moved] = entries.splice(dice(entries.length), 1);
    return JSON.stringify(Object.fromEntries(moved === undefined ? entries : [...entries, moved]));
  }),
  headerDuplicateMember: header((members, dice) => {
    const [name, value] = pick(Object.entries(members), dice);
    const again = `${JSON.stringify(name)}:${JSON.stringify(dice(2) === 0 ? value : "none")}`;
    const text = JSON.stringify(members);
    return dice(2) === 0 ? `{${again},${text.slice(1)}` : `${text.slice(0, -1)},${again}}`;
  }),
  headerSpelledOtherwise: header((members, dice) => {
    const text = JSON.stringify(members);
    return pick(
      [
        ` ${text}`,
        `${text}\n`,
        text.replace(":", ": "),
        JSON.stringify(members, null, 1),
        text.replace("a", "\\u0061"),
        `\ufeff${text}`,
        `[${text}]`,
      ],
      dice,
    );
  }),

  // Bodies.
  editedClaims: claims((_signed, old) => old),
  editedClaimsUnsigned: claims(() => ""),
  editedClaimsGuessedKey: claims((signed, _old, dice) =>
    createHmac("sha256", guessedKey(signed, dice)).update(signed).digest("base64url"),
  ),
  algorithmNone: (token, _other, dice) => {
    const parts = token.split(".");
    return isJws(parts)
      ? `${encode('{"alg":"none"}')}.${parts[1]}.${dice(2) === 0 ? "" : parts[2]}`
      : undefined;
  },
  encryptedUnderGuessedKey: (token, _other, dice) => {
    const parts = token.split(".");
    if (isJws(parts)) return undefined;
    const key = Buffer.alloc(32, dice(256));
    const cipher = createCipheriv("aes-256-gcm", key, decode(parts[2] ?? ""));
    cipher.setAAD(Buffer.from(parts[0] ?? ""));
    const ciphertext = Buffer.concat([
      cipher.update(`{"v":1,"n":${dice(1_000_000)}}`),
      cipher.final(),
    ]);
    return `${parts[0]}..${parts[2]}.${encode(ciphertext)}.${encode(cipher.getAuthTag())}`;
  },
  shortTag: (token, _other, dice) => {
    const parts = token.split(".");
    const last = parts.length - 1;
    return withPart(
      parts,
      last,
      encode(decode(parts[last] ?? "").subarray(0, pick([4, 8, 12, 13, 14, 15], dice))),
    );
  },
  encryptedKeyPresent: (token, _other, dice) => {
    const parts = token.split(".");
    return isJws(parts)
      ? undefined
      : withPart(parts, 1, encode(Buffer.alloc(1 + dice(40), dice(256))));
  },

  // Pieces of one token in another.
  swapKid: header((members, _dice, foreign) => JSON.stringify({ ...members, kid: foreign["kid"] })),
  swapHeader: (token, other) => withPart(token.split("."), 0, other.split(".")[0] ?? ""),
  swapPart: (token, other, dice) => {
    const parts = token.split(".");
    return withPart(parts, dice(parts.length), pick(other.split("."), dice));
  },
  spliceTokens: (token, other, dice) =>
    token.slice(0, dice(token.length)) + other.slice(dice(other.length)),
  jwsAsJwe: (token, other, dice) => {
    const [head, body, mac] = token.split(".");
    if (!isJws(token.split("."))) return undefined;
    const foreignHead = other.split(".")[0] ?? "";
    const iv = encode(decode(mac ?? "").subarray(0, 12));
    const tag = encode(decode(mac ?? "").subarray(16));
    return `${dice(2) === 0 ? head : foreignHead}..${iv}.${body}.${tag}`;
  },
  jweAsJws: (token, other, dice) => {
    const [head, , , body, tag] = token.split(".");
    if (isJws(token.split("."))) return undefined;
    const foreign = other.split(".");
    const mac =
      dice(2) === 0 ? foreign[2] : encode(Buffer.concat([decode(tag ?? ""), decode(tag ?? "")]));
    return `${dice(2) === 0 ? head : foreign[0]}.${body}.${mac}`;
  },
};

/** The names of all alterations. */
export const alterationKinds: readonly string[] = Object.keys(alterations);

/** `count` altered tokens. Throws if the given tokens allow too few alterations to get there. */
export function* alterTokens({ seed, count, tokens }: TamperOptions): Generator<AlteredToken> {
  const dice = diceOf(seed);
  const genuine = new Set(tokens);
  if (genuine.size === 0) throw new RangeError("tokens must not be empty");
  let made = 0;
  let barren = 0;
  for (let turn = 0; made < count; turn += 1) {
    const kind = alterationKinds[turn % alterationKinds.length] ?? "";
    const token = alterations[kind]?.(pick(tokens, dice), pick(tokens, dice), dice);
    if (token === undefined || genuine.has(token)) {
      barren += 1;
      if (barren > 100 * (made + alterationKinds.length)) {
        throw new RangeError("tokens allow too few alterations");
      }
      continue;
    }
    made += 1;
    yield { kind, token };
  }
}
