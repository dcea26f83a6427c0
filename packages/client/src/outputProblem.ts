/**
 * Whether a tool's result keeps what its output schema promised.
 *
 * Called by the call loop with final results only. It reports and never throws: the tool has done its work, and to withhold
 * the result of a refund because a field is missing would lead a person to try again.
 */
import { fromJsonSchema, type Tool } from "@modelcontextprotocol/client";

/** What is wrong with the structured content by the tool's output schema; undefined when nothing is, or there is no schema. */
export async function outputProblem(
  tool: Tool | undefined,
  result: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  if (tool?.outputSchema === undefined || result["isError"] === true) return undefined;
  const { structuredContent } = result as { readonly structuredContent?: unknown };
  if (structuredContent === undefined) {
    return "the tool has an output schema and gave no structured content";
  }
  try {
    const schema = tool.outputSchema as Parameters<typeof fromJsonSchema>[0];
    const { issues } = await fromJsonSchema(schema)["~standard"].validate(structuredContent);
    return issues?.map((issue) => issue.message).join("; ");
  } catch (error) {
    return `its output schema is not usable: ${error instanceof Error ? error.message : String(error)}`;
  }
}
