/**
 * `npm run conformance`: the MCP conformance suite against one server, against many instances, and against the client.
 * Arguments name the legs; `test/conformance/run.ts` has them.
 */
import process from "node:process";
import { runInForeground } from "./foreground.mjs";
import { pathWithServers, setUp } from "./setUp.mjs";

setUp({ tools: ["redis-server", "nginx"] });
runInForeground("test/conformance/run.ts", { ...process.env, PATH: pathWithServers() });
