/**
 * The server under test in one process. Started by fixtureProcess.ts.
 *
 * `--data DIR` is the embedded store's directory. `--elicitation-once` leaves the one repeatable tool at its
 * default. Prints its endpoint as the first line that begins with `http://`.
 */
import { parseArgs } from "node:util";
import { serve } from "reprise";
import { conformanceServer } from "./fixtureServer.ts";

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    "elicitation-once": { type: "boolean", default: false },
  },
});
if (values.data === undefined) throw new RangeError('"--data" must name a directory');

const server = conformanceServer(values["elicitation-once"] ? undefined : "repeatable");
// One scenario looks for a call's stream that the server closes; the others must pass with streams that are closed, too.
const legacy = { pollAfterMs: 1_000, retryMs: 100 };
const served = await serve(server, { port: 0, dataDir: values.data, legacy });
process.once("SIGTERM", () => void served.close());
console.log(served.url);
