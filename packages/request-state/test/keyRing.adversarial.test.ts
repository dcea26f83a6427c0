import { createKeyRingAdmin, createStateSealer, ephemeralKeys } from "@reprise/request-state";
import { beforeEach, describe, expect, it } from "vitest";
import { binding, NOW_MS } from "./support/fixtures.ts";
import { createRingWorld, DAY, HOUR, type RingWorld, SECOND } from "./support/ringProcesses.ts";

let world: RingWorld;
beforeEach(() => {
  world = createRingWorld();
});

const kidIn = (token: string): string => {
  const header: unknown = JSON.parse(
    Buffer.from(token.split(".")[0] ?? "", "base64url").toString(),
  );
  return (header as { kid: string }).kid;
};
const revoke = async (kid: string): Promise<void> => {
  await createKeyRingAdmin(world.database.connect().store).revoke(kid);
};
/** A token with a kid of nobody. */
const forged = (): string => {
  const sealer = createStateSealer({ keys: ephemeralKeys() });
  const times = { issuedAtMs: NOW_MS, expiresAtMs: NOW_MS + DAY };
  return sealer.seal({ payload: {}, binding, ...times, confidential: false }) as string;
};
const settled = (): Promise<void> => world.pass(10 * SECOND);

describe("An unknown kid", () => {
  it("is refused once a look at a settled ring has not found it", async () => {
    const one = await world.join("one");
    await settled();
    expect(await world.within(SECOND, one.judge(forged()))).toBe("kid_unknown");
  });

  // promise P5.20
  it("costs the database one look a second, however many requests bring one, and all are answered", async () => {
    const one = await world.join("one");
    await settled();
    const before = one.link.commands.length;
    const verdicts: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      for (let n = 0; n < 200; n += 1) {
        void one.judge(forged()).then((verdict) => verdicts.push(verdict));
      }
      await world.pass(SECOND);
    }
    await world.pass(2 * SECOND);
    expect(verdicts).toEqual(Array.from({ length: 2000 }, () => "kid_unknown"));
    expect(one.link.commands.length - before).toBeLessThanOrEqual(13);
  });

  // promise P5.22
  it("is not remembered: the same token opens as soon as its key is published", async () => {
    const one = await world.join("one");
    one.link.hears(false);
    await settled();
    const other = await world.join("other");
    const entry = world.database.keys().find(({ kid }) => kid === other.ring.sealing().kid);
    const token = other.seal();
    // A failover to a replica that had not got the publication yet.
    await other.ring.close();
    world.database.loseOnly([kidIn(token)]);
    await settled();
    expect(await world.within(SECOND, one.judge(token))).toBe("kid_unknown");
    if (entry !== undefined) world.database.write(entry);
    expect(await world.within(SECOND, one.judge(token))).toBe("opened");
  });

  it("is looked for by a look that starts after the request, not by one that is under way", async () => {
    const one = await world.join("one");
    one.link.hears(false);
    await settled();
    one.link.mode("hanging");
    await world.pass(2 * SECOND);
    const other = await world.join("other");
    const verdict = one.judge(other.seal());
    one.link.mode("up");
    expect(await world.within(2 * SECOND, verdict)).toBe("opened");
  });

  // promise P5.23
  it("of an unreachable ring is unavailable and never refused, as soon as the look has failed", async () => {
    const one = await world.join("one");
    await settled();
    one.link.mode("down");
    expect(await world.within(SECOND, one.judge(forged()))).toBe("ring_unavailable");
    await world.pass(20 * SECOND);
    expect(await world.within(SECOND, one.judge(forged()))).toBe("ring_unavailable");
  });

  // promise P5.21
  it("waits while the ring is young: its owner may be publishing it again", async () => {
    const one = await world.join("one");
    const token = one.seal();
    await settled();
    one.link.mode("down");
    world.database.lose();
    const later = await world.join("later");
    const verdict = later.judge(token);
    expect(await world.within(2 * SECOND, verdict)).toBe("pending");
    one.link.mode("up");
    expect(await world.within(5 * SECOND, verdict)).toBe("opened");
  });

  // promise P5.21
  it("waits after a new connection, which may lead to a replica that lacks the last keys", async () => {
    const one = await world.join("one");
    await settled();
    one.link.reconnect();
    const verdict = one.judge(forged());
    expect(await world.within(4 * SECOND, verdict)).toBe("pending");
    expect(await world.within(2 * SECOND, verdict)).toBe("kid_unknown");
  });

  it("does not hold a request for ever when the ring does not settle", async () => {
    const one = await world.join("one");
    await settled();
    const verdict = one.judge(forged());
    for (let second = 0; second < 12; second += 1) {
      one.link.reconnect();
      await world.pass(SECOND);
    }
    expect(await world.within(0, verdict)).toBe("ring_unavailable");
  });
});

describe("A ring that lost everything", () => {
  // promise P5.18
  it("gets all keys back, also those whose owner is gone, and no dialogue ends meanwhile", async () => {
    const gone = await world.join("gone");
    const old = gone.seal();
    const [one, other] = [await world.join("one"), await world.join("other")];
    await world.pass(3 * SECOND);
    await gone.ring.close();
    const tokens = [old, one.seal(), other.seal()];
    const before = world.database.keys().map(({ text }) => text);
    world.database.lose();
    for (const token of tokens) {
      for (const process of [one, other]) {
        expect(await world.within(SECOND, process.judge(token))).toBe("opened");
      }
    }
    await world.pass(3 * SECOND);
    expect(
      world.database
        .keys()
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(before.toSorted());
    const later = await world.join("later");
    for (const token of tokens) expect(await later.judge(token)).toBe("opened");
  });

  // promise P5.19
  it("gets its tombstones back before its keys, and a revoked key never comes back", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const bad = one.seal();
    await world.pass(3 * SECOND);
    // `other` is cut off and knows nothing of the revocation; the ring forgets it too.
    other.link.mode("down");
    await revoke(kidIn(bad));
    await world.pass(3 * SECOND);
    world.database.lose();
    await world.pass(3 * SECOND);
    other.link.mode("up");
    await world.pass(5 * SECOND);
    expect(await other.judge(bad)).toBe("revoked_key");
    expect(world.database.keys().map(({ kid }) => kid)).not.toContain(kidIn(bad));
    expect(world.database.tombstones().map(({ kid }) => kid)).toEqual([kidIn(bad)]);
  });

  it("takes a revoked key out of use again when the one who knew of it comes last", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const bad = one.seal();
    await world.pass(3 * SECOND);
    other.link.mode("down");
    await revoke(kidIn(bad));
    await world.pass(3 * SECOND);
    one.link.mode("down");
    world.database.lose();
    other.link.mode("up");
    await world.pass(5 * SECOND);
    // Nobody in reach knows better.
    expect(await other.judge(bad)).toBe("opened");
    one.link.mode("up");
    await world.pass(5 * SECOND);
    expect(await other.judge(bad)).toBe("revoked_key");
  });

  it("right after a key was published gets it back all the same", async () => {
    const one = await world.join("one");
    const token = one.seal();
    // Empty again, as it was when the process looked first.
    world.database.lose();
    await world.pass(5 * SECOND);
    const later = await world.join("later");
    expect(await later.judge(token)).toBe("opened");
  });

  it("right after a revocation gets the tombstone back all the same", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const bad = one.seal();
    await settled();
    await world.within(2 * SECOND, other.ring.revoke(kidIn(bad)));
    world.database.lose();
    await world.pass(5 * SECOND);
    expect(world.database.tombstones().map(({ kid }) => kid)).toEqual([kidIn(bad)]);
    expect(world.database.keys().map(({ kid }) => kid)).not.toContain(kidIn(bad));
    expect(await one.judge(bad)).toBe("revoked_key");
  });

  it("gets a publication again whose reply was lost, as the same key", async () => {
    const one = await world.join("one");
    await settled();
    one.link.mode("deaf");
    const rotated = one.ring.rotate();
    await expect(rotated).rejects.toMatchObject({ code: "REQUEST_STATE_UNAVAILABLE" });
    one.link.mode("up");
    await world.pass(3 * SECOND);
    expect(world.database.keys()).toHaveLength(2);
    expect(world.database.keys().at(-1)?.kid).toBe(one.ring.sealing().kid);
  });
});

describe("An outage of the ring", () => {
  it("of 20 s ends no dialogue: what is held opens and the own key seals", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const token = other.seal();
    await world.pass(3 * SECOND);
    one.link.mode("down");
    for (let second = 0; second < 20; second += 1) {
      await world.pass(SECOND);
      expect(await world.within(0, one.judge(token))).toBe("opened");
      expect(await world.within(0, one.judge(one.seal()))).toBe("opened");
    }
    one.link.mode("up");
    await world.pass(3 * SECOND);
    expect(await world.within(0, one.judge(token))).toBe("opened");
  });

  // promise P5.25
  it("of 60 s leaves only own keys accepted; the others can't be judged until it is over", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const token = other.seal();
    await world.pass(3 * SECOND);
    one.link.mode("down");
    await world.pass(58 * SECOND);
    expect(await world.within(SECOND, one.judge(token))).toBe("opened");
    await world.pass(4 * SECOND);
    expect(await world.within(2 * SECOND, one.judge(token))).toBe("ring_unavailable");
    expect(await world.within(2 * SECOND, one.judge(one.seal()))).toBe("opened");
    one.link.mode("up");
    await world.pass(3 * SECOND);
    expect(await one.judge(token)).toBe("opened");
  });

  it("in which the database hangs counts as one: nothing waits longer than its commands", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const token = other.seal();
    await world.pass(3 * SECOND);
    one.link.mode("hanging");
    await world.pass(5 * SECOND);
    expect(await world.within(0, one.judge(token))).toBe("opened");
    const unknown = one.judge(forged());
    one.link.mode("down");
    expect(await world.within(2 * SECOND, unknown)).toBe("ring_unavailable");
  });

  it("is reported once when it begins and once when it ends", async () => {
    const one = await world.join("one");
    await settled();
    one.link.mode("down");
    await world.pass(30 * SECOND);
    one.link.mode("up");
    await world.pass(10 * SECOND);
    expect(one.log.filter(({ message }) => message.includes("reached"))).toMatchObject([
      { level: "warn" },
      { level: "info" },
    ]);
  });
});

describe("A process that was stopped", () => {
  it("and wakes after a revocation looks at the ring before it accepts anything", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const bad = one.seal();
    await settled();
    expect(await world.within(0, other.judge(bad))).toBe("opened");
    await revoke(kidIn(bad));
    // No turn of the event loop in between: the request is judged before any timer's work is.
    world.stopFor(30 * SECOND);
    expect(await world.within(2 * SECOND, other.judge(bad))).toBe("revoked_key");
  });

  it("and wakes without a ring goes on with what it held, as in an outage", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const token = one.seal();
    await settled();
    other.link.mode("down");
    world.stopFor(30 * SECOND);
    expect(await world.within(2 * SECOND, other.judge(token))).toBe("opened");
    world.stopFor(60 * SECOND);
    expect(await world.within(2 * SECOND, other.judge(token))).toBe("ring_unavailable");
  });
});

describe("An own key that was revoked", () => {
  it("seals nothing, not even while its successor can't be published", async () => {
    const link = world.database.connect();
    let works = true;
    const publish: typeof link.store.publish = (entries) =>
      works ? link.store.publish(entries) : Promise.reject(new Error("no room"));
    const one = await world.join("one", { store: { ...link.store, publish } });
    const bad = one.seal();
    await settled();
    works = false;
    await revoke(kidIn(bad));
    await world.pass(5 * SECOND);
    const refused = expect.objectContaining({ code: "REQUEST_STATE_UNAVAILABLE" });
    expect(() => one.seal()).toThrow(refused);
    expect(await one.judge(bad)).toBe("revoked_key");
    works = true;
    await world.pass(5 * SECOND);
    expect(kidIn(one.seal())).not.toBe(kidIn(bad));
  });
});

describe("Clocks that are wrong", () => {
  it("by hours between the machines and the database end no dialogue and no key", async () => {
    for (const skew of [-5 * HOUR, 10 * HOUR]) {
      world.skewWallClock(skew);
      const one = await world.join(`one ${skew}`);
      const other = await world.join(`other ${skew}`);
      const token = one.seal();
      expect(await world.within(2 * SECOND, other.judge(token))).toBe("opened");
    }
  });

  it("by a jump past the key's promise get a new key instead of states that die unopened", async () => {
    const one = await world.join("one");
    const first = kidIn(one.seal());
    world.skewWallClock(3 * DAY);
    expect(() => one.seal()).toThrow(
      expect.objectContaining({ code: "REQUEST_STATE_UNAVAILABLE" }),
    );
    await world.pass(2 * SECOND);
    const token = one.seal();
    expect(kidIn(token)).not.toBe(first);
    expect(await one.judge(token)).toBe("opened");
  });
});
