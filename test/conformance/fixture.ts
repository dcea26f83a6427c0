/**
 * The server under test, written on the public API alone. Started by fixtureProcess.ts.
 *
 * `--data DIR` is the embedded store's directory. `--elicitation-once` leaves the one repeatable tool at its
 * default. Prints its endpoint as the first line that begins with `http://`.
 */
import { parseArgs } from "node:util";
import { defineServer, serve } from "reprise";
import { askingTools } from "./fixtureAsks.ts";
import { prompts, resources, resourceTemplates } from "./fixtureContent.ts";
import { plainTools } from "./fixtureTools.ts";

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    "elicitation-once": { type: "boolean", default: false },
  },
});
if (values.data === undefined) throw new RangeError('"--data" must name a directory');

const server = defineServer({
  name: "reprise-conformance",
  version: "1.0.0",
  instructions: "Serves what the MCP conformance suite looks for.",
  tools: [...plainTools, ...askingTools(values["elicitation-once"] ? undefined : "repeatable")],
  prompts,
  resources,
  resourceTemplates,
});

const served = await serve(server, { port: 0, dataDir: values.data });
process.once("SIGTERM", () => void served.close());
console.log(served.url);
