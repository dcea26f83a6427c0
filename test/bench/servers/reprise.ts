/**
 * The server measured, on the public API and the embedded store. The first argument is its data directory.
 */
import { serve } from "reprise";
import { benchServer } from "./definition.ts";
import { announce } from "./serverProcess.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new RangeError("the first argument must be the data directory");

announce(await serve(benchServer, { port: 0, dataDir }));
