/**
 * `x-mcp-header` annotations of a tool's input schema (MCP 2026-07-28, Streamable HTTP, "Schema Extension").
 *
 * A client must drop a tool whose annotations break the rules, so a broken one is an error at start here.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject } from "@reprise/journal";
import type { HeaderParam } from "./runtimeTypes.ts";
import { memberOf } from "./schema.ts";

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const types = ["string", "integer", "boolean"] as const;

/** @throws RepriseError DEFINITION_INVALID naming tool and property */
export function headerParamsOf(schema: JsonObject, label: string): readonly HeaderParam[] {
  const found: HeaderParam[] = [];
  const seen = new Set<string>();
  const visit = (node: JsonObject, path: readonly string[]): void => {
    const properties = memberOf(node, "properties");
    if (!isJsonObject(properties)) return;
    for (const [name, property] of Object.entries(properties)) {
      if (!isJsonObject(property)) continue;
      const header = memberOf(property, "x-mcp-header");
      const at = [...path, name];
      if (header !== undefined) {
        const type = types.find((known) => known === memberOf(property, "type"));
        if (
          typeof header !== "string" ||
          !token.test(header) ||
          type === undefined ||
          seen.has(header.toLowerCase())
        ) {
          throw new RepriseError(
            "DEFINITION_INVALID",
            `${label}: x-mcp-header of "${at.join(".")}" must be a header name, unique in the tool, on a string, integer or boolean`,
          );
        }
        seen.add(header.toLowerCase());
        found.push({ header, path: at, type });
      }
      visit(property, at);
    }
  };
  visit(schema, []);
  return found;
}
