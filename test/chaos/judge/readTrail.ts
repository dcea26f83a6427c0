/**
 * Reads what the processes of a deployment wrote down of their steps.
 */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { machineMs, type TrailLine } from "../role/trail.ts";

/** All lines of all processes, by `performance.now()`. The last line of one that was killed in the middle of it is left out. */
export async function readTrail(folder: string): Promise<readonly TrailLine[]> {
  const aheadMs = machineMs() - performance.now();
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
  return texts.flatMap((text) =>
    text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => byOwnClock(JSON.parse(line) as TrailLine, aheadMs)),
  );
}

function byOwnClock(line: TrailLine, aheadMs: number): TrailLine {
  const atMs = line.atMs - aheadMs;
  return line.is === "stoodStill"
    ? { ...line, atMs, sinceMs: line.sinceMs - aheadMs }
    : { ...line, atMs };
}
