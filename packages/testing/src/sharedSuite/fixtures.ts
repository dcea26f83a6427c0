/**
 * What the cases of the suite of shared records are made of.
 *
 * Called by the cases only. Nothing here looks at a clock or draws a random number: a failing case fails again.
 */
import assert from "node:assert/strict";
import type { LogLimits, SharedKey, SharedRecord, SharedRecords } from "@reprise/runtime";

/** Shared records as one process has them. */
export interface SharedPlace {
  readonly shared: SharedRecords;
  /** Closes what they belong to. Absent: there is nothing to close, and the cases about closing do nothing. */
  readonly close?: () => Promise<void>;
}

/** Where an adapter's data lives, as the suite uses it. A fresh one for each case. */
export interface SharedHarness {
  /** Opens the data as another process would; may be called any number of times. */
  open(): Promise<SharedPlace>;
  /** Epoch milliseconds of the records' clock. */
  now(): number;
  /** Moves the time of all places. What was published before must be heard once this and any reply on its way are through. */
  advance(ms: number): void | Promise<void>;
}

/** One promise of the port. */
export interface SharedCase {
  /** The promise, as a sentence. */
  readonly title: string;
  /** Rejects when the adapter breaks the promise. */
  run(harness: SharedHarness): Promise<void>;
}

/** Longer than any case. */
export const LONG_MS: number = 3_600_000;
/** Longest time in which a notice has arrived, if it does. */
const NOTICE_MS = 50;

export const session: SharedKey = { kind: "session", id: "s_1-A" };
export const stream: SharedKey = { kind: "stream", id: "c_1-A" };

/** Two processes on the same data. */
export async function two(
  harness: SharedHarness,
): Promise<readonly [SharedRecords, SharedRecords]> {
  const [one, other] = [await harness.open(), await harness.open()];
  return [one.shared, other.shared];
}

/** An expiry that no case reaches. */
export function late(harness: SharedHarness): number {
  return harness.now() + LONG_MS;
}

/** Limits that trim nothing and expire late. */
export function roomy(harness: SharedHarness, over: Partial<LogLimits> = {}): LogLimits {
  return { expiresAt: late(harness), keep: 10_000, ...over };
}

/** The record, which must be there. */
export async function standing(shared: SharedRecords, key: SharedKey): Promise<SharedRecord> {
  const record = await shared.get(key);
  assert.ok(record, `no record ${key.kind} ${key.id}`);
  return record;
}

/** The revision, which must have been given. */
export function written(revision: string | undefined): string {
  assert.equal(typeof revision, "string", "nothing was written");
  return revision ?? assert.fail();
}

/** What is in a log, as text, and its newest number. */
export async function contents(
  shared: SharedRecords,
  log: SharedKey,
): Promise<{ readonly texts: readonly string[]; readonly last: number }> {
  const { items, last } = await shared.read(log, 0, 10_000);
  const first = last - items.length + 1;
  assert.deepEqual(
    items.map(({ number }) => number),
    items.map((_, index) => first + index),
    "the numbers have a gap",
  );
  return { texts: items.map(({ text }) => text), last };
}

/** Listens and keeps what it hears. */
export async function ear(shared: SharedRecords, channel: string): Promise<Ear> {
  const heard: string[] = [];
  let waiting: { readonly count: number; readonly tell: () => void } | undefined;
  const end = await shared.listen(channel, (notice) => {
    heard.push(notice);
    if (waiting !== undefined && heard.length >= waiting.count) waiting.tell();
  });
  return {
    heard,
    end,
    hears: async (harness, count) => {
      await harness.advance(NOTICE_MS);
      if (heard.length >= count) return;
      await new Promise<void>((tell) => {
        waiting = { count, tell };
      });
    },
  };
}

/** One who listens. */
export interface Ear {
  readonly heard: readonly string[];
  readonly end: () => void;
  /** Resolves once so many notices were heard in all. */
  hears(harness: SharedHarness, count: number): Promise<void>;
}
