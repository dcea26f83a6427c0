/**
 * Whatever a seeded generator makes of good messages, in every era: it is served or refused by the table, the log has no error, and
 * memory does not grow. A failure prints what was sent; REPRISE_TEST_SEED repeats or changes the sample.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { metaKeys } from "@reprise/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longRun, seed } from "../support/config.ts";
import { eras, senderOf, textOf } from "./support/eras.ts";
import type { SessionReply } from "./support/handshake.ts";
import { expectRefusal, sharedTarget } from "./support/target.ts";

const served = sharedTarget();

const numRuns = longRun ? 20_000 : 200;

describe.each(eras)("in %s", (era) => {
  const good = textOf(era)("{}");

  test("what a seeded generator makes of good messages is served or refused, and nothing else", async () => {
    const target = served();
    const send = await senderOf(target, era);
    const message = JSON.parse(good) as Tree;
    const heap = heapUsed();
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        const reply = await send(changes.reduce(mutate, Buffer.from(JSON.stringify(message))));
        expect(reply.status).toBeLessThan(500);
        if (reply.status !== 202) judge(reply);
      }),
      { seed, numRuns },
    );
    await target.serves();
    expect(target.log.entries.filter(({ level }) => level === "error")).toEqual([]);
    expect(heapUsed() - heap).toBeLessThan(64 * 1024 * 1024);
  });

  test("so is a message whose members are replaced by values of any kind", async () => {
    const target = served();
    const send = await senderOf(target, era);
    await fc.assert(
      fc.asyncProperty(replacements, async (changes) => {
        const message = changes.reduce(replaceMember, JSON.parse(good) as Tree);
        const reply = await send(JSON.stringify(message));
        expect(reply.status).toBeLessThan(500);
        if (reply.status !== 202) judge(reply);
      }),
      { seed, numRuns },
    );
    await target.serves();
    expect(target.log.entries.filter(({ level }) => level === "error")).toEqual([]);
  });
});

/** A mutated message may still be a good one. */
function judge(reply: SessionReply): void {
  const [message] = reply.messages;
  if (message?.result !== undefined && message.result.isError !== true) return;
  expectRefusal(reply);
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

type Mutation = readonly [at: number, removed: number, inserted: Uint8Array];
const mutations = fc.array(
  fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.nat(6),
    fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc
        .constantFrom(
          "{",
          "}",
          "[",
          "]",
          '"',
          ":",
          ",",
          "\\",
          "\\u0000",
          "null",
          "1e9",
          "__proto__",
        )
        .map((text) => new Uint8Array(Buffer.from(text))),
    ),
  ),
  { minLength: 1, maxLength: 4 },
);

function mutate(body: Buffer, [where, removed, inserted]: Mutation): Buffer {
  const at = Math.floor(where * body.length);
  return Buffer.concat([body.subarray(0, at), inserted, body.subarray(at + removed)]);
}

type Tree = Record<string, unknown>;
const paths = [
  ["jsonrpc"],
  ["id"],
  ["method"],
  ["params"],
  ["params", "name"],
  ["params", "arguments"],
  ["params", "requestState"],
  ["params", "inputResponses"],
  ["params", "inputResponses", "confirm"],
  ["params", "_meta"],
  ["params", "_meta", "progressToken"],
  ["params", "_meta", "reprise/idempotencyKey"],
  ["params", "_meta", metaKeys.protocolVersion],
  ["params", "_meta", metaKeys.clientInfo],
  ["params", "_meta", metaKeys.clientCapabilities],
  ["params", "_meta", metaKeys.logLevel],
  ["params", "_meta", "traceparent"],
  ["params", "_meta", "baggage"],
] as const;
const replacements = fc.array(
  fc.tuple(
    fc.constantFrom(...paths),
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("constructor", "toString", "__proto__", "\ud800", "a".repeat(70_000), -1, {}),
    ),
  ),
  { minLength: 1, maxLength: 3 },
);

function replaceMember(
  message: Tree,
  [path, value]: readonly [path: readonly string[], value: unknown],
): Tree {
  let node = message;
  for (const name of path.slice(0, -1)) {
    const next = node[name];
    if (typeof next === "object" && next !== null && !Array.isArray(next)) node = next as Tree;
    else {
      const made: Tree = {};
      node[name] = made;
      node = made;
    }
  }
  // A copy: two replacements may be of one value, and the case is played again when it shrinks.
  node[path.at(-1) ?? ""] = structuredClone(value);
  return message;
}
