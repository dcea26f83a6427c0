/**
 * The lines above every question: which server asks, for what, and until when.
 *
 * Called by all terminal gates (MCP 2026-07-28, elicitation: "clear indication of which server is requesting information"). The origin
 * comes first and is a fact; the name is the server's claim and marked so.
 */
import type { AskContext } from "./host.ts";
import { printableLine } from "./printable.ts";

/** The heading of a question under `key`. */
export function heading(key: string, context: AskContext, now: number): string {
  const { server, method, target, round, maxInputRounds, answerBefore } = context;
  const lines = [
    "",
    `── ${printableLine(server.origin)} asks ──`,
    `  ${words[method]} ${printableLine(target)}, question "${printableLine(key)}", round ${round} of at most ${maxInputRounds}.`,
  ];
  if (server.name !== undefined) {
    lines.splice(2, 0, `  It calls itself "${printableLine(server.name)}".`);
  }
  if (!context.canWait)
    lines.push("  It holds the call open for your answer: it can't be left for later.");
  if (answerBefore !== undefined) lines.push(`  ${deadline(answerBefore, now)}`);
  return lines.join("\n");
}

const words = {
  "tools/call": "Tool",
  "prompts/get": "Prompt",
  "resources/read": "Resource",
} as const;

function deadline(answerBefore: Date, now: number): string {
  const until = answerBefore.toISOString();
  const left = answerBefore.getTime() - now;
  if (left <= 0) return `It took answers until ${until}, which has passed: it may refuse yours.`;
  const minutes = Math.max(1, Math.round(left / 60_000));
  const span = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return `It takes an answer until ${until} (${span} from now).`;
}
