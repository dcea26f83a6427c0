/**
 * The fixture's tools that ask the client: each of the suite's multi-round-trip scenarios drives one of them.
 *
 * `askingTools` takes the effects of the one tool that may be repeatable: its scenarios bring an answer on the
 * first call, to a question that was not asked yet, and only a repeatable handler takes such an answer
 * (docs/design.md 3.8). All others stay at the default.
 */
import { type Effects, type ToolDefinition, tool } from "reprise";
import * as z from "zod";

const name = z.object({ name: z.string() });
const ok = z.object({ ok: z.boolean() });

function question(text: string, maxTokens: number): Parameters<SampleOf>[0] {
  return { messages: [{ role: "user", content: { type: "text", text } }], maxTokens };
}

type SampleOf = Parameters<ToolDefinition["handler"]>[1]["sample"];

function elicitation(effects: Effects | undefined): ToolDefinition {
  return tool({
    name: "test_input_required_result_elicitation",
    description: "Asks for a name and greets",
    ...(effects === undefined ? {} : { effects }),
    async handler(_args, ctx) {
      const reply = await ctx.elicit("What is your name?", name, { key: "user_name" });
      return reply.action === "accept" ? `Hello, ${reply.content.name}!` : "Nobody to greet.";
    },
  });
}

const sampling = tool({
  name: "test_input_required_result_sampling",
  description: "Has the client's model answer a question",
  async handler(_args, ctx) {
    const params = question("What is the capital of France?", 100);
    return (await ctx.sample(params, { key: "capital_question" })).text;
  },
});

const listRoots = tool({
  name: "test_input_required_result_list_roots",
  description: "Asks for the client's roots",
  async handler(_args, ctx) {
    const roots = await ctx.listRoots({ key: "client_roots" });
    return `Roots: ${roots.map(({ uri }) => uri).join(", ")}`;
  },
});

const requestState = tool({
  name: "test_input_required_result_request_state",
  description: "Asks once and says that the state came back intact",
  async handler(_args, ctx) {
    await ctx.elicit("Please confirm", ok, { key: "confirm" });
    return "state-ok";
  },
});

const multipleInputs = tool({
  name: "test_input_required_result_multiple_inputs",
  description: "Asks three things of three kinds at once",
  async handler(_args, ctx) {
    const [reply, greeting, roots] = await Promise.all([
      ctx.elicit("What is your name?", name, { key: "user_name" }),
      ctx.sample(question("Generate a greeting", 50), { key: "greeting" }),
      ctx.listRoots({ key: "client_roots" }),
    ]);
    const who = reply.action === "accept" ? reply.content.name : "nobody";
    return `${greeting.text} ${who}, with ${roots.length} roots.`;
  },
});

const multiRound = tool({
  name: "test_input_required_result_multi_round",
  description: "Asks two things, one after the other",
  async handler(_args, ctx) {
    const color = z.object({ color: z.string() });
    const first = await ctx.elicit("Step 1: What is your name?", name, { key: "step1" });
    if (first.action !== "accept") return "No name.";
    const second = await ctx.elicit("Step 2: What is your favorite color?", color, {
      key: "step2",
    });
    if (second.action !== "accept") return `${first.content.name} has no favorite color.`;
    return `${first.content.name} likes ${second.content.color}.`;
  },
});

const tamperedState = tool({
  name: "test_input_required_result_tampered_state",
  description: "Asks once; a changed state must not be accepted",
  async handler(_args, ctx) {
    await ctx.elicit("Please confirm", ok, { key: "confirm" });
    return "The state was intact.";
  },
});

const capabilities = tool({
  name: "test_input_required_result_capabilities",
  description: "Asks only what the client can answer",
  async handler(_args, ctx) {
    const { elicitation: canElicit, sampling: canSample } = ctx.client.capabilities;
    const asks: Promise<unknown>[] = [];
    if (canElicit !== undefined) {
      asks.push(ctx.elicit("What is your name?", name, { key: "user_name" }));
    }
    if (canSample !== undefined) {
      asks.push(ctx.sample(question("Generate a greeting", 50), { key: "greeting" }));
    }
    await Promise.all(asks);
    return `${asks.length} questions answered.`;
  },
});

const missingCapability = tool({
  name: "test_missing_capability",
  description: "Can't do without sampling",
  needs: { sampling: true },
  async handler(_args, ctx) {
    return (await ctx.sample(question("Answer with one word: pong", 16))).text;
  },
});

/** In the order of tools/list. `effects` undefined leaves the elicitation tool at its default. */
export function askingTools(effects: Effects | undefined): readonly ToolDefinition[] {
  return [
    elicitation(effects),
    sampling,
    listRoots,
    requestState,
    multipleInputs,
    multiRound,
    tamperedState,
    capabilities,
    missingCapability,
  ];
}
