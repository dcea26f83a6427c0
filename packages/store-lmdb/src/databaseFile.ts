/**
 * The two files of the database, looked at before lmdb opens them.
 *
 * Called once for each open. lmdb-js 3.5.6 ends the whole process with a segmentation fault when an open fails, so what
 * can fail is found out here and refused as STORE_UNUSABLE or STORE_FULL. It changes nothing.
 */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { endianness } from "node:os";
import { RepriseError } from "@reprise/errors";
import { reasonOf, unusable } from "./fileSystem.ts";

/** What lmdb writes at once into an empty directory, and then some. */
const FIRST_BYTES = 1024 * 1024;
/** In the first page: where lmdb's mark, the format's number and the page size stand, and what the first two must be. */
const MARK_AT = 24;
const FORMAT_AT = 28;
const PAGE_SIZE_AT = 48;
const MARK = 0xbeefc0de;
const FORMAT = 2;
const HEADER_BYTES = 64;
/** How often a file that does not look like a database is looked at again. */
const LOOKS = 4;

/** The database's file. lmdb puts its lock beside it, under the same name and `-lock`. */
export const databaseFile = (directory: string): string => `${directory}/reprise.mdb`;

/** Refuses what lmdb could not open. */
export function checkDatabaseFile(directory: string, freeBytes: () => number): void {
  const path = databaseFile(directory);
  const stats = checkFile(directory, path);
  checkFile(directory, `${path}-lock`);
  if (stats === undefined || stats.size === 0) {
    const free = freeBytes();
    if (free >= FIRST_BYTES) return;
    const message = `the disk has ${free} bytes left for a new store in ${directory}; free some space`;
    throw new RepriseError("STORE_FULL", message);
  }
  // Another process may be writing the first two pages at this moment.
  for (let look = 0; look < LOOKS && !isDatabase(path); look += 1) pause();
  if (!isDatabase(path)) {
    const reason =
      "its reprise.mdb is no store, or was cut short; restore it from a backup, or move it away to begin with an empty store";
    throw unusable(directory, reason);
  }
}

function isDatabase(path: string): boolean {
  const header = readHeader(path);
  return (
    header.byteLength === HEADER_BYTES &&
    readWord(header, MARK_AT) === MARK &&
    readWord(header, FORMAT_AT) === FORMAT &&
    statSync(path).size >= 2 * readWord(header, PAGE_SIZE_AT)
  );
}

/** Blocks this thread for some milliseconds: opening is done at start and blocks anyway. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
}

/** The file's facts; undefined when there is none. */
function checkFile(directory: string, path: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw unusable(directory, `${path} is not a file; move it away`);
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw unusable(directory, `${path}: ${reasonOf(cause)}`, cause);
  }
  return stats;
}

function readHeader(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const read = readSync(file, header, 0, HEADER_BYTES, 0);
    return header.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/** lmdb writes numbers as the machine has them. */
function readWord(header: Buffer, at: number): number {
  return endianness() === "LE" ? header.readUInt32LE(at) : header.readUInt32BE(at);
}
