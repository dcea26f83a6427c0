/**
 * The fixture's tools that only the suite's scenarios of 2025-11-25 call: asks as requests during the call, forms with defaults
 * and all kinds of choices, and a call that outlives its connection.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ToolDefinition, tool } from "reprise";
import * as z from "zod";

/**
 * Longer than until the server closes the call's stream, 2 to 2.5 s after the call came, and shorter than until it closes the
 * next one, a second after that at the earliest: the suite comes back once.
 */
const reconnectionMs = 2_750;

const logging = tool({
  name: "test_tool_with_logging",
  description: "Logs three times",
  async handler(_args, ctx) {
    for (const text of ["Started", "Working", "Done"]) {
      ctx.log("info", text);
      await delay(50);
    }
    return "Logged three times.";
  },
});

const sampling = tool({
  name: "test_sampling",
  description: "Has the client's model answer a prompt",
  input: z.object({ prompt: z.string() }),
  async handler({ prompt }, ctx) {
    const answer = await ctx.sample({
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: 100,
    });
    return `LLM response: ${answer.text}`;
  },
});

const elicitation = tool({
  name: "test_elicitation",
  description: "Asks for a name and an address",
  input: z.object({ message: z.string() }),
  async handler({ message }, ctx) {
    const reply = await ctx.elicit(message, {
      type: "object",
      properties: {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      },
      required: ["username", "email"],
    });
    return `User response: ${JSON.stringify(reply)}`;
  },
});

const defaults = tool({
  name: "test_elicitation_sep1034_defaults",
  description: "Asks with a default for each kind of field",
  async handler(_args, ctx) {
    const reply = await ctx.elicit("Please review these values", {
      type: "object",
      properties: {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
    });
    return `Elicitation completed: ${JSON.stringify(reply)}`;
  },
});

const plain = ["option1", "option2", "option3"];
const titled = [1, 2, 3].map((place) => ({ const: `value${place}`, title: `Option ${place}` }));
const named = { enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] };

const enums = tool({
  name: "test_elicitation_sep1330_enums",
  description: "Asks with each form of a choice",
  async handler(_args, ctx) {
    const reply = await ctx.elicit("Please choose", {
      type: "object",
      properties: {
        untitledSingle: { type: "string", enum: plain },
        titledSingle: { type: "string", oneOf: titled },
        legacyEnum: { type: "string", ...named },
        untitledMulti: { type: "array", items: { type: "string", enum: plain } },
        titledMulti: { type: "array", items: { anyOf: titled } },
      },
    });
    return `Elicitation completed: ${JSON.stringify(reply)}`;
  },
});

const reconnection = tool({
  name: "test_reconnection",
  description: "Takes so long that the server closes its stream first",
  async handler() {
    await delay(reconnectionMs);
    return "Reconnection was successful.";
  },
});

/** In the order of tools/list. */
export const legacyTools: readonly ToolDefinition[] = [
  logging,
  sampling,
  elicitation,
  defaults,
  enums,
  reconnection,
];
