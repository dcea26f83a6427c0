/**
 * What client programs are called in labels and spans: a bounded set, whatever clients say of themselves.
 */

/** Programs that many people use, by the name that they send. */
const known: ReadonlySet<string> = new Set([
  "claude-ai",
  "claude-code",
  "codex-mcp-client",
  "cursor-vscode",
  "gemini-cli-mcp-client",
  "inspector-client",
  "openai-mcp",
  "reprise-client",
  "Visual Studio Code",
  "windsurf-client",
  "Zed",
]);

/** The name as it stands in a label: one of the known ones, `other`, or `none` for a client that says nothing. */
export function clientLabel(name: string | undefined): string {
  if (name === undefined) return "none";
  return known.has(name) ? name : "other";
}
