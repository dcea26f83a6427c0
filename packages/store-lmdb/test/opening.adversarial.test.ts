/**
 * Gate G1, G2: processes that open one store at the same moment, as after a restart of all of them, spoil nothing.
 *
 * Without the gate about one round in a hundred fails; so the long run is the proof, and the short one the reminder.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { longRun, manyCasesMs } from "../../../test/support/config.ts";
import { creation } from "./support/inputs.ts";
import { freshDirectory, openStore } from "./support/stores.ts";

const program = fileURLToPath(new URL("./support/opener.ts", import.meta.url));
const processes = 4;
const rounds = longRun ? 400 : 8;
const timeout = manyCasesMs;
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function start(): ChildProcess {
  const execArgv = ["--conditions=@reprise/source", "--import", "tsx"];
  const child = fork(program, [], { execArgv });
  children.push(child);
  return child;
}

async function openedBy(child: ChildProcess, directory: string): Promise<string> {
  const answer = once(child, "message");
  child.send(directory);
  const [text] = (await answer) as [string];
  return text;
}

test("processes that open a store at once, new or known, find and keep what they record", {
  timeout,
}, async () => {
  const all = Array.from({ length: processes }, start);
  await Promise.all(all.map((child) => once(child, "message")));
  for (let round = 0; round < rounds; round += 1) {
    const directory = freshDirectory();
    const fresh = await Promise.all(all.map((child) => openedBy(child, directory)));
    const known = await Promise.all(all.map((child) => openedBy(child, directory)));
    expect([...fresh, ...known], `round ${round}`).toEqual(Array(2 * processes).fill("fine"));
  }
});

test("a process that is killed while it opens holds up nobody who has the store open", {
  timeout,
}, async () => {
  const directory = freshDirectory();
  const store = await openStore({ directory });
  for (let count = 0; count < 6; count += 1) {
    const child = start();
    await once(child, "message");
    child.send(directory);
    for (let run = 0; run <= count; run += 1) await store.createRun(creation(`r${count}x${run}`));
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    await store.createRun(creation(`after${count}`));
    expect((await store.load(`after${count}`))?.head.status).toBe("running");
  }
});
