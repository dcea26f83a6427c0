/**
 * Which directories hold a store, and what the refusal of the others says.
 */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type FileSystemProbe, type LmdbStoreOptions, openLmdbStore } from "@reprise/store-lmdb";
import { open } from "lmdb";
import { describe, test } from "vitest";
import { freshDirectory, openStore } from "./support/stores.ts";

const localDisk: FileSystemProbe = {
  checkAccess: () => {},
  kindOf: () => ({ magic: 0xef53, mountType: "ext4" }),
  freeBytes: () => 2 ** 40,
};

async function refusal(options: LmdbStoreOptions): Promise<string> {
  try {
    await (await openLmdbStore(options)).close();
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error);
    assert.equal(error.code, "STORE_UNUSABLE");
    assert.ok(error.message.includes(options.directory), "the message must name the directory");
    return error.message;
  }
  assert.fail("the directory was accepted");
}

describe("the store's directory", () => {
  test("a missing directory is made, for its owner alone", async () => {
    const directory = join(freshDirectory(), "a", "b");
    const store = await openStore({ directory });
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    for (const file of readdirSync(directory)) {
      assert.equal(statSync(join(directory, file)).mode & 0o077, 0, `${file} is open to others`);
    }
    assert.equal(store.directory, directory);
  });

  test("a file in its place is refused, also further up", async () => {
    const file = join(freshDirectory(), "file");
    writeFileSync(file, "");
    assert.match(await refusal({ directory: file }), /not a directory/);
    assert.match(await refusal({ directory: join(file, "deeper") }), /not a directory/);
  });

  // Node's own way to make directories with their parents never returns here.
  test.skipIf(!existsSync("/proc/self"))(
    "a place where nothing can be made is refused, however deep, instead of being tried for ever",
    async () => {
      assert.match(await refusal({ directory: "/proc/nowhere" }), /choose another path/);
      assert.match(await refusal({ directory: "/proc/nowhere/a/b" }), /choose another path/);
    },
  );

  test.each([
    ["EACCES", /chown/],
    ["EROFS", /read-only/],
  ])("a directory that the system refuses with %s says what to do", async (code, words) => {
    const checkAccess = (): void => {
      throw Object.assign(new Error(code), { code });
    };
    const fileSystem = { ...localDisk, checkAccess };
    assert.match(await refusal({ directory: freshDirectory(), fileSystem }), words);
  });

  test.each([
    ["NFS", 0x6969, "nfs4"],
    ["CIFS", 0xff534d42, "cifs"],
    ["CIFS", 0xff534d42 | 0, "cifs"],
    ["SMB2", 0xfe534d42, "smb3"],
    ["9p", 0x01021997, "9p"],
    ["Ceph", 0x00c36400, "ceph"],
    ["fuse.sshfs", 0x65735546, "fuse.sshfs"],
    ["virtiofs", 0x65735546, "virtiofs"],
  ])("%s is refused: its locks do not hold between machines", async (name, magic, mountType) => {
    const fileSystem = { ...localDisk, kindOf: () => ({ magic, mountType }) };
    const message = await refusal({ directory: freshDirectory(), fileSystem });
    assert.ok(message.includes(name) && message.includes("local disk"), message);
  });

  test("a local file system behind FUSE is accepted", async () => {
    const kindOf = (): { magic: number; mountType: string } => ({
      magic: 0x65735546,
      mountType: "fuse.mergerfs",
    });
    await openStore({ directory: freshDirectory(), fileSystem: { ...localDisk, kindOf } });
  });

  test("a layout of a newer release is refused and left as it is", async () => {
    const directory = freshDirectory();
    await (await openLmdbStore({ directory })).close();
    const raw = open<string, string>({
      path: join(directory, "reprise.mdb"),
      noSubdir: true,
      encoding: "string",
      overlappingSync: false,
    });
    await raw.put("layout", "2");
    await raw.close();
    const refusals = [refusal({ directory }), refusal({ directory })];
    for (const message of await Promise.all(refusals)) assert.match(message, /newer/);
    assert.match(await refusal({ directory }), /newer/);
  });

  test.each([
    ["no database", Buffer.from("not a database ".repeat(1_000))],
    ["too short for anything", Buffer.from("x")],
    ["zeros", Buffer.alloc(20_000)],
  ])("a reprise.mdb that is %s is refused and left as it is", async (_what, bytes) => {
    const directory = freshDirectory();
    const file = join(directory, "reprise.mdb");
    writeFileSync(file, bytes);
    assert.match(await refusal({ directory }), /reprise\.mdb is no store/);
    assert.deepEqual(readFileSync(file), bytes);
  });

  test("a database that was cut short is refused", async () => {
    const directory = freshDirectory();
    await (await openLmdbStore({ directory })).close();
    truncateSync(join(directory, "reprise.mdb"), 5_000);
    assert.match(await refusal({ directory }), /cut short/);
  });

  test.each(["reprise.mdb", "reprise.mdb-lock"])(
    "a directory in place of %s is refused",
    async (name) => {
      const directory = freshDirectory();
      mkdirSync(join(directory, name));
      assert.match(await refusal({ directory }), /is not a file/);
    },
  );

  test("a disk without room for a new store is STORE_FULL at once", async () => {
    const fileSystem = { ...localDisk, freeBytes: () => 1_000 };
    const opening = openLmdbStore({ directory: freshDirectory(), fileSystem });
    await assert.rejects(opening, { code: "STORE_FULL" });
  });

  test.each([
    ["leaseMs", 0],
    ["leaseMs", Number.NaN],
    ["retentionMs", -1],
    ["maxWaitingRuns", 0.5],
    ["maxBytesPerCaller", 0],
    ["maxBytes", Number.POSITIVE_INFINITY],
    ["reserveBytes", -5],
  ])("%s %d is a RangeError that names the option", async (name, value) => {
    const opening = openLmdbStore({ directory: freshDirectory(), [name]: value });
    await assert.rejects(opening, (error: unknown) => {
      return error instanceof RangeError && error.message.includes(name);
    });
  });

  test("an empty directory name is a TypeError", async () => {
    await assert.rejects(openLmdbStore({ directory: "" }), TypeError);
  });
});
