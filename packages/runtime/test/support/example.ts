import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import { anonymous, createRuntime, defineServer, type RunReply, tool } from "@reprise/runtime";
import { createMemoryStore } from "@reprise/testing";

const server = defineServer({
  name: "doors",
  tools: [
    tool({
      name: "open_door",
      description: "Open the door",
      handler: async (_args, ctx) =>
        (await ctx.confirm("Open it?")) ? "It is open." : "It stays shut.",
    }),
  ],
});

/** Whoever carries requests (the HTTP front does) hands them to a runtime and gets replies. */
export async function ask(): Promise<RunReply> {
  const sealer = createStateSealer({ keys: ephemeralKeys() });
  const runtime = createRuntime({ server, store: createMemoryStore(), sealer });
  const handler = runtime.catalog.findTool("open_door");
  if (handler === undefined) throw new Error("the catalog has every declared tool");
  const reply = await runtime.execute({
    method: "tools/call",
    handler,
    target: "open_door",
    args: {},
    params: { name: "open_door" },
    caller: anonymous,
    client: { info: undefined, capabilities: { elicitation: {} }, protocolVersion: "2026-07-28" },
    requestState: undefined,
    inputResponses: undefined,
    idempotencyKey: undefined,
    logLevel: undefined,
    notifications: undefined,
    isGone: false,
    onGone: () => () => undefined,
  });
  await runtime.close();
  return reply;
}
