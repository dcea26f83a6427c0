/**
 * One process's membership in the ring of keys that instances share (design section 5, "No key, Redis").
 *
 * The composition root joins; the sealer asks `sealing` and `find` for every state. The rules are here, the texts in
 * keyRingRecord.ts, the bookkeeping in keyRingHoldings.ts, the timing of looks in keyRingLooks.ts, the database
 * behind a port.
 *
 * 1. Each process owns its keys: made here, published, and used to seal only after the ring acknowledged that. A key
 *    is promised for two rotation intervals, so that an outage at the time of a rotation stops no sealing.
 * 2. Everybody holds the whole ring. What the ring lost, whoever holds it publishes again, tombstones first and
 *    never over one: the owner of a key in clients' hands may be long gone.
 * 3. No negative cache. A kid that is not held is looked up by a look that starts after the request came, and while the
 *    ring is unsettled (young, just reconnected, just found incomplete) again until it is settled: its owner may
 *    be publishing it again. "There is no such key" is only ever said of a settled ring.
 * 4. A ring that can't be reached gives "unavailable" for kids not held. After 60 s without it only own keys are
 *    accepted: others may have been revoked.
 * 5. What is held but was not compared with the ring for 8 s, although the ring did not fail (this process was
 *    stopped or blocked), waits for a look. So a revocation is in force within 10 s.
 * 6. An own key that was revoked seals nothing from the moment its tombstone is seen; the next one is made in
 *    the same look.
 */
import { RepriseError } from "@reprise/errors";
import { isKid } from "./form.ts";
import { KeyRingContact, SETTLE_MS } from "./keyRingContact.ts";
import type { KeyRing, KeyRingOptions, RevocationReport } from "./keyRingContract.ts";
import { type Adoption, KeyRingHoldings } from "./keyRingHoldings.ts";
import { listing } from "./keyRingListing.ts";
import { KeyRingLooks } from "./keyRingLooks.ts";
import type { RingContents, RingEntry } from "./keyRingPort.ts";
import { makeRingKey, makeTombstone, type RingKey } from "./keyRingRecord.ts";
import { checkedSettings, type RingSettings } from "./keyRingSettings.ts";
import type { OpeningKey, SealingKey } from "./keys.ts";

/** A ring that never settles must not hold requests for ever; then "unavailable" is the truth. */
const LONGEST_LOOKUP_MS = 2 * SETTLE_MS;

/** An own key and when it was made, by the clock that does not go back. */
interface OwnKey {
  readonly ringKey: RingKey;
  readonly madeAt: number;
}

class RingMember implements KeyRing {
  readonly #settings: RingSettings;
  readonly #holdings: KeyRingHoldings;
  readonly #looks: KeyRingLooks;
  readonly #contact: KeyRingContact;
  readonly #own = new Set<string>();
  /** Seals. */
  #current: OwnKey | undefined;
  /** Made, and not yet known to be published. */
  #candidate: OwnKey | undefined;
  /** Of the ring as it was last read; undefined after a write, which makes a version that nobody told us. */
  #version: string | undefined;
  #writes = 0;
  #rotationWanted = false;
  #rotateBeforeMs = 0;
  readonly #endListening: () => void;

  constructor(settings: RingSettings) {
    this.#settings = settings;
    this.#holdings = new KeyRingHoldings(settings.wrapping);
    this.#contact = new KeyRingContact(settings.clock);
    this.#looks = new KeyRingLooks(settings.clock, () => this.#look());
    this.#endListening = settings.store.listen((event) => {
      if (event === "reconnected") this.#contact.unsettle();
      // Nobody waits: a look reports its own failure.
      void this.#looks.soon();
    });
  }

  /** The first look, which publishes the first key. */
  async join(): Promise<void> {
    await this.#looks.soon();
    if (this.#current !== undefined) return;
    await this.close();
    const { failure } = this.#contact;
    const why = failure instanceof Error ? `: ${failure.message}` : "";
    throw this.#unavailable(`The key ring can't be reached, so no state can be sealed${why}`);
  }

  sealing(): SealingKey {
    const current = this.#current?.ringKey;
    if (
      current !== undefined &&
      !this.#holdings.isRevoked(current.facts.kid) &&
      this.#outlives(current.facts.newestExpiryMs)
    ) {
      return current.key;
    }
    void this.#looks.soon();
    throw this.#unavailable("This process waits for the key ring to take its next key.");
  }

  find(kid: string): OpeningKey | undefined | Promise<OpeningKey | undefined | "unavailable"> {
    const held = this.#holdings.key(kid)?.key;
    if (this.#holdings.isRevoked(kid)) return held;
    const trusted = this.#contact.isTrusted && this.#mayUse(kid);
    return held !== undefined && trusted ? held : this.#lookUp(kid);
  }

  list(): ReturnType<KeyRing["list"]> {
    const nowMs = this.#settings.clock.now();
    const keys = this.#holdings.keys().map(({ entry }) => entry);
    return listing(keys, this.#holdings.tombstones(), nowMs);
  }

  async rotate(): Promise<string> {
    const before = this.#current;
    this.#rotationWanted = true;
    await this.#looks.soon();
    const kid = this.#current?.ringKey.facts.kid;
    if (kid !== undefined && this.#current !== before) return kid;
    throw this.#unavailable("The key ring can't be reached; this process will rotate once it can.");
  }

  async revoke(kid: string): Promise<RevocationReport> {
    if (!isKid(kid)) throw new RangeError("kid must have 22 characters of base64url");
    const reached = await this.#looks.soon();
    const known = this.#holdings.knows(kid);
    const endsAtMs = this.#holdings.key(kid)?.entry.endsAtMs ?? 0;
    const tombstone = makeTombstone(kid, this.#settings.clock.now(), endsAtMs);
    if (!reached) throw this.#unavailable("The key ring can't be reached; nothing was revoked.");
    try {
      await this.#bury([tombstone]);
    } catch (cause) {
      throw this.#unavailable("The key ring did not confirm the revocation; repeat it.", cause);
    }
    this.#holdings.bury(tombstone);
    if (this.#own.has(kid)) await this.#looks.soon();
    return { known };
  }

  async close(): Promise<void> {
    this.#endListening();
    await this.#looks.close();
  }

  async #lookUp(kid: string): Promise<OpeningKey | undefined | "unavailable"> {
    const deadline = this.#settings.clock.monotonic() + LONGEST_LOOKUP_MS;
    for (;;) {
      const reached = await this.#looks.soon();
      const key = this.#holdings.key(kid)?.key;
      if (key !== undefined) return key.life?.revoked || this.#mayUse(kid) ? key : "unavailable";
      if (this.#holdings.isRevoked(kid)) return undefined;
      if (!reached || this.#holdings.isUnreadable(kid)) return "unavailable";
      if (this.#contact.isSettled) return undefined;
      if (this.#settings.clock.monotonic() >= deadline) return "unavailable";
    }
  }

  /** Whether a key that is held may be used, as far as the contact with the ring goes (invariant 4). */
  #mayUse(kid: string): boolean {
    return !this.#contact.isAlone || this.#own.has(kid);
  }

  /** One look: read, adopt, mend what the ring lost, renew the own key. True if the ring was reached and is whole. */
  async #look(): Promise<boolean> {
    const { store, clock, logger } = this.#settings;
    const startedAt = clock.monotonic();
    const writes = this.#writes;
    try {
      const { nowMs, contents } = await store.read(this.#version);
      this.#contact.read(startedAt);
      const version = contents?.version ?? this.#version;
      // Set again at the end only: after a failure in between the next look has to see everything.
      this.#version = undefined;
      if (contents !== undefined) await this.#takeIn(contents, nowMs);
      await this.#renewOwn(nowMs);
      // A ring that lost what was written here just now would show the old version again.
      if (writes === this.#writes) this.#version = version;
    } catch (error) {
      if (this.#contact.failed(error)) {
        logger.warn({ err: error }, "the key ring can't be reached: going on with the keys held");
      }
      return false;
    }
    if (this.#contact.succeeded()) {
      logger.info({ keys: this.#holdings.keys().length }, "the key ring is reached again");
    }
    return true;
  }

  async #takeIn(contents: RingContents, nowMs: number): Promise<void> {
    const { logger } = this.#settings;
    this.#contact.unsettle(SETTLE_MS - (nowMs - contents.bornAtMs));
    this.#rotateBeforeMs = contents.rotateBeforeMs;
    const adoption = this.#holdings.adopt(contents, nowMs);
    this.#report(adoption);
    const { lostKeys, lostTombstones } = adoption;
    if (lostKeys.length + lostTombstones.length === 0) return;
    this.#contact.unsettle();
    if (lostTombstones.length > 0) await this.#bury(lostTombstones);
    if (lostKeys.length > 0) await this.#publish(lostKeys, nowMs);
    const fields = { keys: lostKeys.length, tombstones: lostTombstones.length };
    logger.warn(fields, "the key ring had lost keys: published again what this process holds");
  }

  /** Makes the next own key when it is time, and publishes it. */
  async #renewOwn(nowMs: number): Promise<void> {
    if (this.#current !== undefined && !this.#isDue(this.#current)) return;
    if (this.#candidate === undefined || this.#isDue(this.#candidate)) {
      this.#candidate = this.#make(nowMs);
    }
    const { ringKey } = this.#candidate;
    await this.#publish([ringKey.entry], nowMs);
    this.#holdings.add(ringKey);
    this.#own.add(ringKey.facts.kid);
    this.#current = this.#candidate;
    this.#candidate = undefined;
    this.#rotationWanted = false;
    this.#settings.logger.info({ kid: ringKey.facts.kid }, "this process seals with a new key");
  }

  #isDue({ ringKey: { facts }, madeAt }: OwnKey): boolean {
    const age = this.#settings.clock.monotonic() - madeAt;
    return (
      age >= this.#settings.rotationMs ||
      facts.createdAtMs < this.#rotateBeforeMs ||
      (this.#rotationWanted && this.#current?.ringKey.facts.kid === facts.kid) ||
      this.#holdings.isRevoked(facts.kid) ||
      !this.#outlives(facts.newestExpiryMs)
    );
  }

  #make(nowMs: number): OwnKey {
    const { clock, owner, rotationMs, lifetimeMs, wrapping } = this.#settings;
    // Never before the request that it answers, or a database whose clock was set back would ask for ever.
    const createdAtMs = Math.max(nowMs, this.#rotateBeforeMs);
    // States get their expiry from this machine's clock, which may be ahead of the ring's.
    const sealsUntilMs = Math.max(createdAtMs, Math.floor(clock.now())) + 2 * rotationMs;
    const facts = { owner, createdAtMs, sealsUntilMs, newestExpiryMs: sealsUntilMs + lifetimeMs };
    return { ringKey: makeRingKey(facts, wrapping), madeAt: clock.monotonic() };
  }

  /** Whether a state sealed now expires within the promise of a key. */
  #outlives(newestExpiryMs: number): boolean {
    return this.#settings.clock.now() + this.#settings.lifetimeMs <= newestExpiryMs;
  }

  async #bury(tombstones: readonly RingEntry[]): Promise<void> {
    this.#writes += 1;
    await this.#settings.store.revoke(tombstones);
  }

  async #publish(keys: readonly RingEntry[], nowMs: number): Promise<void> {
    this.#writes += 1;
    for (const kid of await this.#settings.store.publish(keys)) {
      this.#holdings.bury(makeTombstone(kid, nowMs, this.#holdings.key(kid)?.entry.endsAtMs ?? 0));
    }
  }

  #report({ faults, revoked }: Adoption): void {
    const { logger } = this.#settings;
    for (const { kid, fault } of faults) {
      logger.error(
        { kid, fault },
        "a key of the ring can't be used here: requests with its states are told to repeat",
      );
    }
    for (const kid of revoked) {
      logger.warn({ kid, own: this.#own.has(kid) }, "a request state key was revoked");
    }
  }

  #unavailable(message: string, cause: unknown = this.#contact.failure): RepriseError {
    return new RepriseError("REQUEST_STATE_UNAVAILABLE", message, {
      data: { retryAfterMs: 1000 },
      cause,
    });
  }
}

/**
 * Joins the ring: reads it, publishes a key of this process, and keeps both fresh until `close`.
 * @throws TypeError, RangeError or RepriseError CONFIG_INVALID naming the option that can't be used.
 * @throws RepriseError REQUEST_STATE_UNAVAILABLE when the ring can't be reached; nothing is left running.
 */
export async function joinKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const settings = checkedSettings(options);
  if (settings.wrapping === undefined) {
    settings.logger.warn(
      {},
      "request state keys lie readable in the ring: whoever can read the database can seal states. Set keyEncryptionKey",
    );
  }
  const member = new RingMember(settings);
  await member.join();
  return member;
}
