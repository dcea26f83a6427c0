/**
 * `npm run chaos -- --minutes M --seed S [--faults a,b]`: many instances on this machine, hurt under load and judged from
 * outside. Arguments go on to test/chaos/run.ts; `--help` tells them and the kinds of faults.
 */
import process from "node:process";
import { runInForeground } from "./foreground.mjs";
import { pathWithServers, setUp } from "./setUp.mjs";

setUp({ tools: ["redis-server", "redis-sentinel", "nginx"] });
runInForeground("test/chaos/run.ts", { ...process.env, PATH: pathWithServers() });
