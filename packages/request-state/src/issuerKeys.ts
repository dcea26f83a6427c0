/**
 * The public keys of one issuer, as its key set (JWKS, RFC 7517) has them: loaded when needed, kept, renewed.
 *
 * The token verifier asks for the key of each token; whoever makes this says how a key set is loaded. It has no
 * network, no timer and no log of its own.
 *
 * 1. One load at a time; whoever needs one that is under way waits for it.
 * 2. A set younger than `maxAgeMs` is used as it is. Of an older one a new copy is loaded first, so a key that the
 *    issuer took away is out of use after `maxAgeMs` of its being reachable. Where loading fails, the old set is used
 *    until it is `maxStaleMs` old, and not a moment longer.
 * 3. A key that the set lacks loads it anew, at most once in `cooldownMs`: made-up key ids can't flood an issuer.
 * 4. "No such key" is said only of a set that was loaded within `cooldownMs`. Where that could not be had, the answer is
 *    `KeysUnavailable`: a good token must not be called bad because its issuer is away.
 * 5. A load that failed is tried again no sooner than `retryMs` later.
 */
import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from "jose";

/** A public key, as jose takes it. */
export type VerificationKey = Awaited<ReturnType<ReturnType<typeof createLocalJWKSet>>>;

/** Time as a port; the runtime's `Clock` has this shape too. */
export interface TokenClock {
  /** Epoch milliseconds. */
  now(): number;
}

/** Options of `createIssuerKeys`. */
export interface IssuerKeysOptions {
  /** Fetches the key set as JSON. Must end by itself; never called twice at a time. A rejection means: not now. */
  readonly load: () => Promise<unknown>;
  readonly clock: TokenClock;
  /** How long a set is used without a look. Default 600000 (10 minutes). */
  readonly maxAgeMs?: number;
  /** How long a set is used while the issuer can't be reached, counted from its loading. Default 3600000 (1 hour). */
  readonly maxStaleMs?: number;
  /** Shortest time between two loads for keys that the set lacks. Default 10000. */
  readonly cooldownMs?: number;
  /** Shortest time between a load that failed and the next. Default 1000. */
  readonly retryMs?: number;
}

/** The keys can't be had now; the same question may be put again after `retryAfterMs`. */
export class KeysUnavailable extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number, cause: unknown) {
    super("the issuer's keys can't be loaded", { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** The keys of one issuer. Made by `createIssuerKeys`; safe for any number of calls at once. */
export interface IssuerKeys {
  /**
   * The key of a signature.
   * @throws KeysUnavailable; errors of jose where the set has no key for it, or several
   */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<VerificationKey>;
  /** Loads the set if there is none yet. @throws KeysUnavailable */
  warmUp(): Promise<void>;
}

/** Makes it; nothing is loaded yet. @throws RangeError naming the option */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  return new HeldKeys(options);
}

interface KeySet {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly loadedAt: number;
}

class HeldKeys implements IssuerKeys {
  readonly #load: () => Promise<unknown>;
  readonly #clock: TokenClock;
  readonly #maxAgeMs: number;
  readonly #maxStaleMs: number;
  readonly #cooldownMs: number;
  readonly #retryMs: number;
  #held: KeySet | undefined;
  #loading: Promise<void> | undefined;
  /** The last load, where it failed. */
  #failure: { readonly at: number; readonly cause: unknown } | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#load = options.load;
    this.#clock = options.clock;
    this.#maxAgeMs = duration("maxAgeMs", options.maxAgeMs ?? 600_000);
    this.#maxStaleMs = duration("maxStaleMs", options.maxStaleMs ?? 3_600_000);
    this.#cooldownMs = duration("cooldownMs", options.cooldownMs ?? 10_000);
    this.#retryMs = duration("retryMs", options.retryMs ?? 1_000);
  }

  async warmUp(): Promise<void> {
    await this.#usable();
  }

  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<VerificationKey> {
    const held = await this.#usable();
    try {
      return await held.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (this.#ageOf(held) < this.#cooldownMs) throw error;
      await this.#reload();
      const renewed = this.#held;
      if (renewed === undefined || this.#ageOf(renewed) >= this.#cooldownMs) {
        throw this.#unavailable();
      }
      return renewed.find(header, token);
    }
  }

  /** The set by rule 2. */
  async #usable(): Promise<KeySet> {
    if (this.#held !== undefined && this.#ageOf(this.#held) < this.#maxAgeMs) return this.#held;
    await this.#reload();
    if (this.#held !== undefined && this.#ageOf(this.#held) < this.#maxStaleMs) return this.#held;
    throw this.#unavailable();
  }

  /** Loads the set, unless the last try failed just now (rule 5). Never rejects: whoever calls looks at what is held. */
  async #reload(): Promise<void> {
    const failed = this.#failure;
    const isTooSoon = failed !== undefined && this.#clock.now() - failed.at < this.#retryMs;
    if (this.#loading === undefined && isTooSoon) return;
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #loadOnce(): Promise<void> {
    try {
      // It checks the shape itself, and throws for what is no key set.
      const find = createLocalJWKSet((await this.#load()) as JSONWebKeySet);
      this.#held = { find, loadedAt: this.#clock.now() };
      this.#failure = undefined;
    } catch (cause) {
      this.#failure = { at: this.#clock.now(), cause };
    }
  }

  /** A clock that was set back must not make a set young for ever. */
  #ageOf(set: KeySet): number {
    const age = this.#clock.now() - set.loadedAt;
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }

  #unavailable(): KeysUnavailable {
    return new KeysUnavailable(this.#retryMs, this.#failure?.cause);
  }
}

function duration(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new RangeError(`${name} must be a number of milliseconds from 0`);
}
