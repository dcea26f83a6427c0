/**
 * `npm run cluster`: Reprise on many instances on this machine, from source, in a fresh clone too.
 *
 * The processes are started by test/support/cluster, which the tests of many instances use as well. Arguments go on
 * to it; `npm run cluster -- --help` tells them.
 */
import process from "node:process";
import { runInForeground } from "./foreground.mjs";
import { pathWithServers, setUp } from "./setUp.mjs";

setUp({ tools: ["redis-server", "nginx"] });
runInForeground("test/support/cluster/main.ts", { ...process.env, PATH: pathWithServers() });
