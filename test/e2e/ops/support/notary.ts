/**
 * The smallest definition whose calls go through a queue: for tests of what surrounds it.
 */
import { defineServer, type ServerDefinition, tool } from "reprise";

export const notary: ServerDefinition = defineServer({
  name: "notary",
  tools: [
    tool({
      name: "note",
      description: "Notes",
      input: { type: "object" },
      handler: async () => "Noted.",
    }),
  ],
});
