/**
 * The server under test, written on the public API alone: what fixture.ts serves from one process, and role/main.ts from
 * fronts and workers.
 */
import { defineServer, type Effects, type Server } from "reprise";
import { askingTools } from "./fixtureAsks.ts";
import { prompts, resources, resourceTemplates } from "./fixtureContent.ts";
import { legacyTools } from "./fixtureLegacy.ts";
import { plainTools } from "./fixtureTools.ts";
import { triggerTools } from "./fixtureTriggers.ts";

/** `elicitation` is the effects of the one tool that may be repeatable; undefined leaves it at its default. */
export function conformanceServer(elicitation: Effects | undefined): Server {
  const server: Server = defineServer({
    name: "reprise-conformance",
    version: "1.0.0",
    instructions: "Serves what the MCP conformance suite looks for.",
    tools: [
      ...plainTools,
      ...askingTools(elicitation),
      ...legacyTools,
      ...triggerTools(() => server),
    ],
    prompts,
    resources,
    resourceTemplates,
  });
  return server;
}
