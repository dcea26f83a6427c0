/**
 * Prints `N passed, N failed` alone on the last line of a vitest run; `npm test` adds these lines up.
 *
 * Called by vitest after its own reporter. What fails without being a test (a file that can't be imported,
 * a broken hook, an unhandled rejection) counts as one failure each: a count that forgot them would call a
 * run green which checked nothing.
 */
import type { Reporter, SerializedError, TestModule } from "vitest/node";

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandled.length;
    let skipped = 0;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "skipped") skipped += 1;
        else failedHere += 1;
      }
      if (failedHere === 0 && !module.ok()) failedHere = 1;
      failed += failedHere;
    }
    const tail = skipped === 0 ? "" : `, ${skipped} skipped`;
    process.stdout.write(`\n${passed} passed, ${failed} failed${tail}\n`);
  }
}
