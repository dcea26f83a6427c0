import { createKeyRingAdmin, OPENS_AFTER_EXPIRY_MS } from "@reprise/request-state";
import { beforeEach, describe, expect, it } from "vitest";
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

describe("Two processes that share nothing but the ring", () => {
  // promise P5.13
  it("open each other's states, and seal with keys of their own", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const [byOne, byOther] = [one.seal(), other.seal()];
    expect(kidIn(byOne)).not.toBe(kidIn(byOther));
    // The one who came later held the other's key from the start; the other one looks for the newcomer's.
    expect(await other.judge(byOne)).toBe("opened");
    expect(await world.within(SECOND, one.judge(byOther))).toBe("opened");
  });

  it("open them at once, without a promise, when the notice of the key has come", async () => {
    const one = await world.join("one");
    const other = await world.join("other");
    await world.pass(SECOND);
    const key = one.ring.find(other.ring.sealing().kid);
    expect(key).toMatchObject({ kid: other.ring.sealing().kid });
  });

  it("open them within a second when no notice comes", async () => {
    const one = await world.join("one");
    one.link.hears(false);
    await world.pass(5 * SECOND);
    const other = await world.join("other");
    expect(await world.within(SECOND, one.judge(other.seal()))).toBe("opened");
  });

  // promise P5.20
  it("know each other's keys within a few seconds although no notice and no state comes", async () => {
    const one = await world.join("one");
    one.link.hears(false);
    const other = await world.join("other");
    await world.pass(3 * SECOND);
    expect(one.ring.find(other.ring.sealing().kid)).toHaveProperty("signing");
  });
});

describe("A key", () => {
  // promise P5.17
  it("seals only after its publication was acknowledged", async () => {
    const link = world.database.connect();
    let acknowledge = (): void => undefined;
    let published: readonly string[] = [];
    const publish: typeof link.store.publish = async (entries) => {
      const reply = await link.store.publish(entries);
      published = entries.map(({ kid }) => kid);
      await new Promise<void>((resolve) => {
        acknowledge = resolve;
      });
      return reply;
    };
    const joined = world.join("one", { store: { ...link.store, publish } });
    expect(await world.within(5 * SECOND, joined)).toBe("pending");
    expect(world.database.keys().map(({ kid }) => kid)).toEqual(published);
    acknowledge();
    const one = await joined;
    const first = kidIn(one.seal());
    expect([first]).toEqual(published);

    const rotated = one.ring.rotate();
    expect(await world.within(5 * SECOND, rotated)).toBe("pending");
    expect(published).not.toEqual([first]);
    expect(kidIn(one.seal())).toBe(first);
    acknowledge();
    expect([await rotated]).toEqual(published);
    expect([kidIn(one.seal())]).toEqual(published);
  });

  it("of a process that never reached the ring there is none: it fails at its start", async () => {
    const link = world.database.connect();
    link.mode("down");
    await expect(world.join("cut off", { store: link.store })).rejects.toMatchObject({
      code: "REQUEST_STATE_UNAVAILABLE",
      message: expect.stringContaining("connection lost"),
    });
    link.mode("up");
    await world.pass(5 * SECOND);
    expect(link.commands).toEqual([]);
  });

  // promise P5.15
  it("is rotated every interval, and opens what it sealed afterwards, everywhere", async () => {
    const one = await world.join("one", { keyRotationIntervalMs: HOUR });
    const other = await world.join("other");
    const first = one.seal();
    await world.pass(HOUR - 5 * SECOND);
    expect(kidIn(one.seal())).toBe(kidIn(first));
    await world.pass(10 * SECOND);
    const second = one.seal();
    expect(kidIn(second)).not.toBe(kidIn(first));
    for (const process of [one, other]) {
      expect(await world.within(2 * SECOND, process.judge(first))).toBe("opened");
      expect(await world.within(2 * SECOND, process.judge(second))).toBe("opened");
    }
  });

  it("opens states for 30 days after the newest that it can have sealed, and is dropped then", async () => {
    const one = await world.join("one", { keyRotationIntervalMs: 20 * DAY });
    const first = one.seal();
    const kid = kidIn(first);
    const lifeMs = 2 * 20 * DAY + DAY + OPENS_AFTER_EXPIRY_MS;
    const other = await world.join("other");
    await world.pass(lifeMs - HOUR);
    expect(await world.within(2 * SECOND, other.judge(first))).toBe("opened");
    expect(world.database.keys().map((entry) => entry.kid)).toContain(kid);
    await world.pass(2 * HOUR);
    expect(await world.within(2 * SECOND, other.judge(first))).toBe("kid_unknown");
    await one.ring.rotate();
    expect(world.database.keys().map((entry) => entry.kid)).not.toContain(kid);
    expect(other.ring.list().map((item) => item.kid)).not.toContain(kid);
  });

  it("goes on sealing when the ring is out at the time of its rotation, for another interval", async () => {
    const one = await world.join("one", { keyRotationIntervalMs: HOUR });
    const first = one.seal();
    await world.pass(HOUR / 2);
    one.link.mode("down");
    await world.pass(HOUR);
    expect(kidIn(one.seal())).toBe(kidIn(first));
    await world.pass(HOUR / 2 + 2 * SECOND);
    expect(() => one.seal()).toThrow(
      expect.objectContaining({ code: "REQUEST_STATE_UNAVAILABLE" }),
    );
    one.link.mode("up");
    await world.pass(5 * SECOND);
    expect(kidIn(one.seal())).not.toBe(kidIn(first));
  });

  it("is made anew on demand by its process", async () => {
    const one = await world.join("one");
    const first = kidIn(one.seal());
    const rotated = one.ring.rotate();
    const kid = await world.within(2 * SECOND, rotated);
    expect(kid).not.toBe(first);
    expect(kidIn(one.seal())).toBe(kid);
  });

  it("is made anew by every process when an operator asks, once", async () => {
    const processes = [await world.join("one"), await world.join("other")];
    const before = processes.map((process) => kidIn(process.seal()));
    await world.pass(5 * SECOND);
    await createKeyRingAdmin(world.database.connect().store).rotate();
    await world.pass(3 * SECOND);
    const after = processes.map((process) => kidIn(process.seal()));
    for (const kid of after) expect(before).not.toContain(kid);
    await world.pass(10 * SECOND);
    expect(processes.map((process) => kidIn(process.seal()))).toEqual(after);
  });
});

describe("A revoked key", () => {
  // promise P5.24
  it("opens nothing at the other processes within 10 s, without a notice too", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const [bad, good] = [one.seal(), other.seal()];
    await world.pass(3 * SECOND);
    expect(await other.judge(bad)).toBe("opened");
    other.link.hears(false);
    await createKeyRingAdmin(world.database.connect().store).revoke(kidIn(bad));
    await world.pass(10 * SECOND);
    expect(await other.judge(bad)).toBe("revoked_key");
    expect(await one.judge(bad)).toBe("revoked_key");
    expect(await one.judge(good)).toBe("opened");
  });

  it("seals nothing any more: its owner makes another one as soon as it hears of it", async () => {
    const one = await world.join("one");
    const bad = one.seal();
    await world.pass(2 * SECOND);
    await createKeyRingAdmin(world.database.connect().store).revoke(kidIn(bad));
    await world.pass(2 * SECOND);
    const next = one.seal();
    expect(kidIn(next)).not.toBe(kidIn(bad));
    expect(await one.judge(next)).toBe("opened");
  });

  // promise P5.16
  it("is out of use at once where it was revoked", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const bad = one.seal();
    expect(await world.within(2 * SECOND, other.ring.revoke(kidIn(bad)))).toEqual({ known: true });
    expect(await other.judge(bad)).toBe("revoked_key");
    expect(await world.within(2 * SECOND, one.ring.revoke(kidIn(one.seal())))).toEqual({
      known: true,
    });
    expect(kidIn(one.seal())).not.toBe(kidIn(bad));
  });

  it("leaves no key material in the ring, and a process that comes later knows nothing of it", async () => {
    const one = await world.join("one");
    const bad = one.seal();
    await createKeyRingAdmin(world.database.connect().store).revoke(kidIn(bad));
    expect(world.database.keys()).toEqual([]);
    const later = await world.join("later");
    expect(await later.judge(bad)).toBe("kid_unknown");
  });
});

describe("An operator", () => {
  it("sees every key with its owner and times, and the revoked ones", async () => {
    await world.join("one", { keyEncryptionKey: "a wrapping secret for tests, long enough" });
    await world.pass(SECOND);
    const other = await world.join("other");
    await world.pass(SECOND);
    const admin = createKeyRingAdmin(world.database.connect().store);
    const [second, first] = await admin.list();
    expect(first).toMatchObject({ owner: "one", status: "sealing", wrapped: true });
    const createdAtMs = world.now() - SECOND;
    expect(second).toEqual({
      kid: other.ring.sealing().kid,
      owner: "other",
      status: "sealing",
      createdAtMs,
      sealsUntilMs: createdAtMs + 2 * DAY,
      opensUntilMs: createdAtMs + 3 * DAY + OPENS_AFTER_EXPIRY_MS,
      wrapped: false,
    });
    expect(JSON.stringify(await admin.list())).not.toContain("secret");
    await admin.revoke(first?.kid ?? "");
    expect(await admin.list()).toContainEqual({
      kid: first?.kid,
      status: "revoked",
      revokedAtMs: world.now(),
    });
  });

  it("sees which key of a process seals, and the same list from a member", async () => {
    const one = await world.join("one");
    await world.within(2 * SECOND, one.ring.rotate());
    const admin = createKeyRingAdmin(world.database.connect().store);
    expect((await admin.list()).map(({ status }) => status)).toEqual(["sealing", "opening"]);
    expect((await admin.list())[0]?.kid).toBe(one.ring.sealing().kid);
    expect(one.ring.list()).toEqual(await admin.list());
  });

  it("is told when there is no such key, and may not name one that can't be", async () => {
    const admin = createKeyRingAdmin(world.database.connect().store);
    expect(await admin.revoke("A".repeat(22))).toEqual({ known: false });
    expect(await admin.revoke("A".repeat(22))).toEqual({ known: true });
    await expect(admin.revoke("no kid")).rejects.toThrow(RangeError);
    const one = await world.join("one");
    await expect(one.ring.revoke(`${"A".repeat(21)}"`)).rejects.toThrow(RangeError);
  });

  it("is told when the ring can't be reached", async () => {
    const link = world.database.connect();
    link.mode("down");
    const admin = createKeyRingAdmin(link.store);
    for (const command of [admin.list(), admin.rotate(), admin.revoke("A".repeat(22))]) {
      await expect(command).rejects.toMatchObject({ code: "REQUEST_STATE_UNAVAILABLE" });
    }
  });
});

describe("Options of the ring", () => {
  it.each([
    ["owner", { owner: "" }],
    ["owner", { owner: "x".repeat(201) }],
    ["keyRotationInterval", { keyRotationIntervalMs: 59_999 }],
    ["keyRotationInterval", { keyRotationIntervalMs: Number.NaN }],
    ["requestStateLifetime", { requestStateLifetimeMs: 0 }],
    ["requestStateLifetime", { requestStateLifetimeMs: 1.5 }],
    ["keyEncryptionKey", { keyEncryptionKey: [] }],
    ["keyEncryptionKey", { keyEncryptionKey: "too short" }],
  ])("are judged at the start, before anything is published: %s", async (name, options) => {
    await expect(world.join("one", options)).rejects.toThrow(name);
    expect(world.database.keys()).toEqual([]);
  });
});

describe("A process that leaves", () => {
  it("looks at the ring no more, and its states are opened by the others", async () => {
    const [one, other] = [await world.join("one"), await world.join("other")];
    const token = one.seal();
    await one.ring.close();
    await one.ring.close();
    await world.pass(SECOND);
    const commands = one.link.commands.length;
    await world.pass(HOUR);
    expect(one.link.commands.length).toBe(commands);
    expect(await other.judge(token)).toBe("opened");
  });
});
