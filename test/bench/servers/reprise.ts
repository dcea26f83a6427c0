/**
 * The server measured, on the public API and the embedded store. The first argument is its data directory.
 */
import { serve } from "reprise";
import { benchServer } from "./definition.ts";
import { announce } from "./serverProcess.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new RangeError("the first argument must be the data directory");

// All callers of a bench are one person: a flow of 200 calls a second with 5 s of thinking is 1,000 waiting runs, the usual limit.
announce(await serve(benchServer, { port: 0, dataDir, maxWaitingRuns: 10_000 }));
