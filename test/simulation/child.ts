/**
 * One of several processes that play seeds: gets stretches from its parent and sends back what they came to, one at a time.
 * Ends with its parent.
 */
import process from "node:process";
import { playShare, type Stretch } from "./share.ts";

process.on("disconnect", () => process.exit());
process.on("message", (stretch: Stretch) => {
  playShare(stretch).then(
    (share) => process.send?.(share),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? "") : String(error)}\n`);
      process.exit(2);
    },
  );
});
