/**
 * The fixture's tools that change the lists of tools and prompts while a subscription is open, and the tool that comes and goes.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Server, type ToolDefinition, tool } from "reprise";

/**
 * Longer than notices take from one instance to another: with less between the two changes, an instance that looks only after
 * the second one would see none.
 */
const awayMs = 200;

const comesAndGoes = "test_comes_and_goes";
/** One that no scenario asks for. */
const switchedPrompt = "test_prompt_comes_and_goes";

/** `serverOf` gives the server that the tools belong to: it is made of them. */
export function triggerTools(serverOf: () => Server): readonly ToolDefinition[] {
  return [
    tool({ name: comesAndGoes, description: "Is switched off and on", handler: () => "Here." }),
    tool({
      name: "test_trigger_tool_change",
      description: "Switches another tool off and on, on all instances",
      async handler() {
        const { tools } = serverOf();
        await tools.disable(comesAndGoes);
        await delay(awayMs);
        await tools.enable(comesAndGoes);
        return "The list of tools changed twice.";
      },
    }),
    tool({
      name: "test_trigger_prompt_change",
      description: "Switches a prompt off and on, on all instances",
      async handler() {
        const { prompts } = serverOf();
        await prompts.disable(switchedPrompt);
        await delay(awayMs);
        await prompts.enable(switchedPrompt);
        return "The list of prompts changed twice.";
      },
    }),
  ];
}
