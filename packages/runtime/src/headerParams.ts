/**
 * `x-mcp-header` annotations of a tool's input schema (MCP 2026-07-28, Streamable HTTP, "Schema Extension").
 *
 * A client must drop a tool whose annotations break the rules, so a broken one is an error at start here.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject, type JsonValue } from "@reprise/journal";
import type { HeaderParam } from "./runtimeTypes.ts";
import { memberOf } from "./schema.ts";

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const types = ["string", "integer", "boolean"] as const;
/** Keywords whose value is an object of schemas by name, and those whose value is data. */
const namesToSchemas = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const data = new Set(["default", "const", "enum", "examples"]);

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
  if (countAnnotations(schema) !== found.length) {
    throw new RepriseError(
      "DEFINITION_INVALID",
      `${label}: x-mcp-header may stand only on a property that is reached through nothing but "properties"`,
    );
  }
  return found;
}

/** Annotations anywhere in a schema. Below `properties` members are names, so one called x-mcp-header is no annotation. */
function countAnnotations(schema: JsonValue): number {
  if (Array.isArray(schema)) return schema.reduce((sum, one) => sum + countAnnotations(one), 0);
  if (!isJsonObject(schema)) return 0;
  let count = 0;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "x-mcp-header") count += 1;
    else if (data.has(keyword)) continue;
    else if (namesToSchemas.has(keyword) && isJsonObject(value)) {
      count += countAnnotations(Object.values(value));
    } else count += countAnnotations(value);
  }
  return count;
}
