/**
 * How vitest runs this workspace: TypeScript from source, no build needed.
 *
 * The `@reprise/source` condition of each package's exports map leads to `src/index.ts`. It stands in both
 * lists because test files are loaded through vite's server-side resolver and the rest through the plain one.
 * Setting `conditions` replaces vite's defaults, so these are repeated, without `module`: Node does not know it, and loads what vite resolves.
 */
import { defineConfig } from "vitest/config";
import { longRun, seed } from "./test/support/config.ts";
import { CountReporter } from "./test/support/countReporter.ts";

const conditions = ["@reprise/source", "node", "development|production"];

/** Two cores: more workers would only take turns and make every timeout a matter of luck. */
const maxWorkers = 2;

/** Minutes of both cores even for a small sample: kills that take five processes down and up again, hundreds of queued calls. */
const tooLongForEveryRun = ["test/e2e/cluster/kill.test.ts", "test/e2e/cluster/fairness.test.ts"];

/** Tests of a package's pages in a real browser stand with the package and run with the slow ones. */
const inBrowser = "packages/*/test/pages.test.ts";

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    pool: "forks",
    maxWorkers,
    reporters: ["default", new CountReporter()],
    // Every child process of a run draws from the same seed and has the same size.
    env: { REPRISE_TEST_LONG: longRun ? "1" : "", REPRISE_TEST_SEED: String(seed) },
    allowOnly: false,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "packages/*/test/**/*.test.ts",
            "services/*/test/**/*.test.ts",
            "test/*.test.ts",
          ],
          exclude: [inBrowser],
          testTimeout: longRun ? 600_000 : 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: [
            "test/e2e/**/*.test.ts",
            "test/chaos/**/*.test.ts",
            "test/attacks/**/*.test.ts",
            inBrowser,
          ],
          exclude: longRun ? [] : tooLongForEveryRun,
          testTimeout: longRun ? 3_600_000 : 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
