/**
 * The sampling and roots gates at a terminal.
 *
 * Called by the terminal host (MCP 2026-07-28, sampling: a human in the loop who can deny, edit the prompt, and sees the answer
 * before it goes). Without a model the person writes the answer; with one, the prompt as edited goes to it, and its answer
 * comes back here to be sent, changed or thrown away. Refusing sends nothing on 2026-07-28, which has no answer for it.
 */
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  Root,
} from "@modelcontextprotocol/client";
import { type Asked, choose } from "./choose.ts";
import type { Console } from "./console.ts";
import type { RootsReply, SampleAsk, SampleReply } from "./host.ts";
import { printableLine, quoted } from "./printable.ts";

/** A model of the host's. Gets the prompt as the person left it. */
export type Model = (params: CreateMessageRequestParams) => Promise<CreateMessageResult>;

/** Has the ask answered. The heading has been printed. */
export async function sampleByHand(
  console: Console,
  ask: SampleAsk,
  model: Model | undefined,
  asked: Asked,
): Promise<SampleReply> {
  let params = ask.params;
  console.say("  It wants a model's answer to this prompt:");
  for (;;) {
    showPrompt(console, params);
    const chosen = await choose(
      console,
      {
        run: model === undefined ? [] : ["run"],
        write: ["write"],
        edit: ["edit"],
        refuse: ["refuse", "decline", "no", "n"],
        later: ["later", "cancel"],
      },
      asked,
    );
    if (chosen === undefined || chosen.choice === "later") return { action: "later" };
    if (chosen.choice === "refuse") return { action: "refuse" };
    if (chosen.choice === "edit") {
      const edited = await editPrompt(console, params, asked);
      if (edited === undefined) return { action: "later" };
      params = edited;
      continue;
    }
    const answer =
      chosen.choice === "run" && model !== undefined
        ? await model(params)
        : await writeAnswer(console, asked);
    if (answer === undefined) return { action: "later" };
    const reviewed = await reviewAnswer(console, answer, asked);
    if (reviewed !== "again") return reviewed;
  }
}

async function reviewAnswer(
  console: Console,
  result: CreateMessageResult,
  asked: Asked,
): Promise<SampleReply | "again"> {
  console.say(`  This would be sent as the answer of "${printableLine(result.model)}":`);
  console.say(quoted(shownContent(result.content)));
  const chosen = await choose(
    console,
    {
      send: ["send"],
      change: ["change"],
      refuse: ["refuse", "decline", "no", "n"],
      later: ["later", "cancel"],
    },
    asked,
  );
  switch (chosen?.choice) {
    case "send":
      return { action: "accept", result };
    case "change":
      return "again";
    case "refuse":
      return { action: "refuse" };
    default:
      return { action: "later" };
  }
}

function showPrompt(console: Console, params: CreateMessageRequestParams): void {
  if (params.systemPrompt !== undefined) {
    console.say("  System prompt:");
    console.say(quoted(params.systemPrompt));
  }
  for (const message of params.messages) {
    console.say(`  ${message.role === "user" ? "User" : "Assistant"}:`);
    console.say(quoted(shownContent(message.content)));
  }
  const hints = params.modelPreferences?.hints?.flatMap((hint) => hint.name ?? []) ?? [];
  const wish = hints.length === 0 ? "" : ` It would like ${printableLine(hints.join(", "))}.`;
  console.say(`  At most ${params.maxTokens} tokens.${wish}`);
}

function shownContent(content: unknown): string {
  if (Array.isArray(content)) return content.map(shownContent).join("\n");
  if (typeof content !== "object" || content === null) return String(content);
  if ("text" in content && typeof content.text === "string") return content.text;
  const kind = "type" in content ? String(content.type) : "unknown";
  return `(${kind}, not shown: ${JSON.stringify(content).length} bytes)`;
}

async function editPrompt(
  console: Console,
  params: CreateMessageRequestParams,
  asked: Asked,
): Promise<CreateMessageRequestParams | undefined> {
  console.say("  New words for each text; a line of a single dot at once keeps it.");
  let { systemPrompt } = params;
  if (systemPrompt !== undefined) {
    const words = await writeText(console, "System prompt", asked);
    if (words === undefined) return undefined;
    if (words !== "") systemPrompt = words;
  }
  const messages = [];
  for (const message of params.messages) {
    if (Array.isArray(message.content) || message.content.type !== "text") {
      messages.push(message);
      continue;
    }
    const words = await writeText(console, message.role === "user" ? "User" : "Assistant", asked);
    if (words === undefined) return undefined;
    messages.push(
      words === "" ? message : { ...message, content: { ...message.content, text: words } },
    );
  }
  return { ...params, messages, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
}

async function writeAnswer(
  console: Console,
  asked: Asked,
): Promise<CreateMessageResult | undefined> {
  const text = await writeText(console, "Answer", asked);
  return text === undefined ? undefined : byHand(text);
}

/** A person's words in the shape of a model's. */
export function byHand(text: string): CreateMessageResult {
  return {
    role: "assistant",
    content: { type: "text", text },
    model: "human",
    stopReason: "endTurn",
  };
}

async function writeText(
  console: Console,
  what: string,
  asked: Asked,
): Promise<string | undefined> {
  console.say(`  ${what}; end with a line of a single dot:`);
  const lines: string[] = [];
  for (;;) {
    const line = await console.ask("  > ", asked.signal);
    if (line === undefined) return undefined;
    if (line === ".") return lines.join("\n");
    lines.push(line);
  }
}

/** Has a roots ask answered: shows exactly what the server would be told. */
export async function tellRoots(
  console: Console,
  roots: readonly Root[],
  asked: Asked,
): Promise<RootsReply> {
  console.say("  It wants to know which folders it may work in. It would be told:");
  for (const root of roots)
    console.say(
      `    ${printableLine(root.uri)}${root.name === undefined ? "" : ` (${printableLine(root.name)})`}`,
    );
  if (roots.length === 0) console.say("    (no folder at all)");
  const chosen = await choose(
    console,
    {
      send: ["send"],
      none: ["none"],
      refuse: ["refuse", "decline", "no", "n"],
      later: ["later", "cancel"],
    },
    asked,
  );
  switch (chosen?.choice) {
    case "send":
      return { action: "accept", roots };
    case "none":
      return { action: "accept", roots: [] };
    case "refuse":
      return { action: "refuse" };
    default:
      return { action: "later" };
  }
}
