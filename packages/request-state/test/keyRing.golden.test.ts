/**
 * What released instances wrote into rings. golden/keyRing.v1.json was written once and is never written again: during
 * a deploy both releases share one ring, and a key that one of them can't read ends dialogues.
 */
import { readFileSync } from "node:fs";
import { createKeyRingAdmin, type RingEntry } from "@reprise/request-state";
import { beforeEach, describe, expect, it } from "vitest";
import { createRingWorld, type RingWorld } from "./support/ringProcesses.ts";

interface GoldenRing {
  readonly keyEncryptionKey: string;
  readonly keys: readonly {
    readonly name: string;
    readonly entry: RingEntry;
    readonly token: string;
  }[];
  readonly tombstone: RingEntry;
}

const golden = JSON.parse(
  readFileSync(new URL("./golden/keyRing.v1.json", import.meta.url), "utf8"),
) as GoldenRing;

let world: RingWorld;
beforeEach(() => {
  world = createRingWorld();
});

describe("Format 1 of the ring", () => {
  it.each(golden.keys)("has a $name key that opens what its owner sealed", async (sample) => {
    world.database.write(sample.entry);
    const { keyEncryptionKey } = golden;
    const one = await world.join("one", sample.name === "wrapped" ? { keyEncryptionKey } : {});
    expect(await one.judge(sample.token)).toBe("opened");
    expect(one.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("has tombstones that show when they were set", async () => {
    const link = world.database.connect();
    await link.store.revoke([golden.tombstone]);
    expect(await createKeyRingAdmin(link.store).list()).toEqual([
      { kid: golden.tombstone.kid, status: "revoked", revokedAtMs: 1_790_000_000_000 },
    ]);
  });

  it("lets a tombstone of another release revoke all the same", async () => {
    const [plain] = golden.keys;
    if (plain === undefined) throw new Error("the golden file has no key");
    world.database.write(plain.entry);
    const one = await world.join("one");
    expect(await one.judge(plain.token)).toBe("opened");
    const tombstone = { ...plain.entry, text: '{"v":2,"cells":["?"]}' };
    await world.database.connect().store.revoke([tombstone]);
    expect(await world.within(10_000, one.judge(plain.token))).toBe("opened");
    await world.pass(3000);
    expect(await one.judge(plain.token)).toBe("revoked_key");
  });
});
