/**
 * What every database of a key ring promises (the port's contract in @reprise/request-state), as tests.
 *
 * Run by the memory double and by the Redis adapter, so that what the ring's rules are tested on behaves like what
 * they run on.
 */
import type { KeyRingStore, RingContents, RingEntry } from "@reprise/request-state";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

/** A database for one test. */
export interface KeyRingStoreFixture {
  /** Two connections to one empty ring. */
  readonly stores: readonly [KeyRingStore, KeyRingStore];
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const kid = (letter: string): string => letter.repeat(22);

/** Registers the suite. */
export function testKeyRingStore(name: string, open: () => Promise<KeyRingStoreFixture>): void {
  describe(`the key ring's store: ${name}`, () => {
    let fixture: KeyRingStoreFixture;
    let one: KeyRingStore;
    let other: KeyRingStore;
    let nowMs: number;
    beforeEach(async () => {
      fixture = await open();
      [one, other] = fixture.stores;
      ({ nowMs } = await one.read(undefined));
    });
    afterEach(() => fixture.close());

    const entry = (letter: string, text = `text of ${letter}`, lifeMs = DAY_MS): RingEntry => ({
      kid: kid(letter),
      text,
      endsAtMs: nowMs + lifeMs,
    });
    const contents = async (store: KeyRingStore): Promise<RingContents> => {
      const reading = await store.read(undefined);
      if (reading.contents === undefined) throw new Error("no contents for a first reader");
      return reading.contents;
    };
    const kidsOf = (entries: readonly RingEntry[]): string[] =>
      entries.map(({ kid: id }) => id).toSorted();

    test("A ring that nobody wrote is empty, and begins now", async () => {
      const ring = await contents(one);
      expect(ring).toMatchObject({ keys: [], tombstones: [], rotateBeforeMs: 0 });
      expect(ring.bornAtMs).toBeGreaterThanOrEqual(nowMs);
      expect(ring.version).not.toBe("");
    });

    test("What one connection published another one reads, as it was written", async () => {
      const published = [entry("a", '{"text":"with \\u0000 and ä€😀"}'), entry("b")];
      expect(await one.publish(published)).toEqual([]);
      const { keys } = await contents(other);
      expect(keys.toSorted((x, y) => x.kid.localeCompare(y.kid))).toEqual(published);
    });

    test("A kid keeps its first text and its first end", async () => {
      await one.publish([entry("a", "first")]);
      const before = await contents(one);
      expect(await other.publish([entry("a", "second", 2 * DAY_MS)])).toEqual([]);
      expect(await contents(one)).toEqual(before);
    });

    test("A tombstone removes the key, and refuses every later publication of it by name", async () => {
      await one.publish([entry("a"), entry("b")]);
      await other.revoke([entry("a", "revoked", 2 * DAY_MS)]);
      expect(await one.publish([entry("a"), entry("c")])).toEqual([kid("a")]);
      const ring = await contents(one);
      expect(kidsOf(ring.keys)).toEqual([kid("b"), kid("c")]);
      expect(ring.tombstones).toEqual([entry("a", "revoked", 2 * DAY_MS)]);
    });

    test("A tombstone stands before there is a key, and keeps its first text", async () => {
      await one.revoke([entry("z", "first")]);
      await one.revoke([entry("z", "second")]);
      expect(await other.publish([entry("z")])).toEqual([kid("z")]);
      expect((await contents(other)).tombstones).toEqual([entry("z", "first")]);
    });

    test("The version changes when something changed, and only then", async () => {
      const { version: empty } = await contents(one);
      await one.publish([entry("a")]);
      const { version: first } = await contents(one);
      expect(first).not.toBe(empty);
      expect((await other.read(first)).contents).toBeUndefined();
      await other.publish([entry("a")]);
      expect((await one.read(first)).contents).toBeUndefined();
      await other.revoke([entry("a")]);
      const { version: second } = await contents(one);
      await other.revoke([entry("a")]);
      expect((await one.read(second)).contents).toBeUndefined();
      expect((await one.read(first)).contents).toMatchObject({ version: second });
      await other.requestRotation();
      expect((await one.read(second)).contents?.version).not.toBe(second);
    });

    test("A request for rotation is dated by the ring and kept", async () => {
      await one.publish([entry("a")]);
      const at = await one.requestRotation();
      expect(at).toBeGreaterThanOrEqual(nowMs);
      const ring = await contents(other);
      expect(ring.rotateBeforeMs).toBe(at);
      expect(kidsOf(ring.keys)).toEqual([kid("a")]);
    });

    test("What has ended is dropped with the next change, and nothing else is", async () => {
      await one.publish([entry("a", "ended", -1), entry("b")]);
      await one.revoke([entry("c", "ended", -1), entry("d")]);
      await one.publish([entry("e")]);
      const ring = await contents(other);
      expect(kidsOf(ring.keys)).toEqual([kid("b"), kid("e")]);
      expect(kidsOf(ring.tombstones)).toEqual([kid("d")]);
    });

    test("The birth of a ring stays the same while it lives", async () => {
      await one.publish([entry("a")]);
      const { bornAtMs } = await contents(one);
      await other.publish([entry("b")]);
      await one.revoke([entry("b")]);
      expect((await contents(other)).bornAtMs).toBe(bornAtMs);
    });

    test("A change is announced to who listens, until the listening is ended", async () => {
      const events: string[] = [];
      const end = other.listen((event) => events.push(event));
      // A subscription may begin after a change; a later change is announced then.
      while (!events.includes("changed")) await one.requestRotation();
      end();
      const count = events.length;
      await one.publish([entry("A")]);
      await other.read(undefined);
      expect(events.length).toBe(count);
    });
  });
}
