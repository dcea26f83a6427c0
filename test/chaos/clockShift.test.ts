/**
 * The chaos shop's clock jumps when it is told to: a fault that changes nothing would prove nothing.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { fromSource } from "../support/childProcess.ts";
import { root } from "../support/sourceTree.ts";

const program = `
  import "./test/chaos/role/clockShift.ts";
  const hold = setInterval(() => undefined, 1_000);
  process.on("message", () => {
    process.send({ now: Date.now(), date: new Date().getTime(), fixed: new Date(5).getTime(), isDate: new Date() instanceof Date });
  });
`;

test("Date of the process moves by what it was told, given times stay what they are", async () => {
  const args = [...fromSource, "--input-type=module", "-e", program];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const hourMs = 3_600_000;
  child.send({ shiftClockMs: -hourMs });
  const [told] = (await once(child, "message")) as [
    { now: number; date: number; fixed: number; isDate: boolean },
  ];
  expect(Math.abs(told.now - (Date.now() - hourMs))).toBeLessThan(60_000);
  expect(Math.abs(told.date - told.now)).toBeLessThan(1_000);
  expect(told).toMatchObject({ fixed: 5, isDate: true });
});
