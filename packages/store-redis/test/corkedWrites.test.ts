/**
 * What is written about the same time leaves in one packet, in its order, and nothing waits for more to come.
 */
import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { corkWrites } from "../src/corkedWrites.ts";

interface Corked {
  readonly stream: Writable;
  /** What left, packet by packet. */
  readonly packets: readonly (readonly string[])[];
}

function corked(waiting: number): Corked {
  const packets: string[][] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      packets.push([chunk]);
      done();
    },
    writev: (chunks, done) => {
      packets.push(chunks.map(({ chunk }) => String(chunk)));
      done();
    },
  });
  corkWrites(stream, () => waiting);
  return { stream, packets };
}

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe("commands", () => {
  test.each([0, 64])("of one turn leave together, in their order (%i wait)", async (waiting) => {
    const { stream, packets } = corked(waiting);
    for (const command of ["a", "b", "c"]) stream.write(command);
    await immediate();
    await immediate();
    expect(packets).toEqual([["a", "b", "c"]]);
  });

  test("leave at the end of their turn while few wait for a reply", async () => {
    const { stream, packets } = corked(1);
    stream.write("a");
    await tick();
    expect(packets).toEqual([["a"]]);
  });

  test("of several turns of one round leave together while many wait", async () => {
    const { stream, packets } = corked(64);
    await Promise.all(
      ["a", "b", "c"].map(async (command) => {
        await immediate();
        stream.write(command);
      }),
    );
    await immediate();
    await immediate();
    expect(packets).toEqual([["a", "b", "c"]]);
  });

  test("that come after a packet has left go with the next one", async () => {
    const { stream, packets } = corked(64);
    stream.write("a");
    await immediate();
    stream.write("b");
    await immediate();
    await immediate();
    expect(packets).toEqual([["a"], ["b"]]);
  });
});
