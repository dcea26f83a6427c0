/**
 * Runs the legs of a test run one after another and adds up their counts.
 *
 * A leg is a command whose output has a line `N passed, N failed` (`, N skipped` may follow); the last such
 * line counts. Invariants: (1) a leg that prints no count, counts nothing, or ends with another exit code
 * than its count deserves, is a failure: silence must never look like success; (2) every leg runs, also
 * after a failed one; (3) the total is the last line printed, alone.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { root } from "./setUp.mjs";

const countLine = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/;

/**
 * Runs `legs` ({ name, command, args }) and prints the total.
 *
 * @returns the exit code for the process: 0 only when every leg counted something and nothing failed.
 */
export async function runLegs(legs, env) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const notes = [];
  for (const leg of legs) {
    process.stdout.write(`\n--- ${leg.name}\n`);
    const { code, count } = await runLeg(leg, env);
    if (count === undefined || count.passed + count.failed === 0) {
      notes.push(`${leg.name}: no test was counted (exit code ${code})`);
      total.failed += 1;
      continue;
    }
    total.passed += count.passed;
    total.failed += count.failed;
    total.skipped += count.skipped;
    if (count.failed > 0) notes.push(`${leg.name}: ${count.failed} failed`);
    else if (code !== 0) {
      notes.push(`${leg.name}: exit code ${code} although nothing failed`);
      total.failed += 1;
    }
  }
  process.stdout.write(`\n--- total\n${notes.map((note) => `${note}\n`).join("")}`);
  const tail = total.skipped === 0 ? "" : `, ${total.skipped} skipped`;
  process.stdout.write(`${total.passed} passed, ${total.failed} failed${tail}\n`);
  return total.failed === 0 ? 0 : 1;
}

function runLeg({ command, args }, env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
    let count;
    let rest = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => {
      process.stdout.write(chunk);
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const match = countLine.exec(line.trim());
        if (match === null) continue;
        const [passed, failed, skipped] = match.slice(1).map((digits) => Number(digits ?? 0));
        count = { passed, failed, skipped };
      }
    });
    child.on("error", (error) => {
      process.stdout.write(`${error.message}\n`);
      resolve({ code: -1, count: undefined });
    });
    child.on("close", (code, signal) => resolve({ code: code ?? signal, count }));
  });
}
