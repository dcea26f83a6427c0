/**
 * The table that `reprise dev` prints: which handler is once, which repeatable, and why (docs/design.md 4.1).
 */
import type { Catalog, CompiledHandler, ServerDefinition } from "@reprise/runtime";

/** One line a handler, columns aligned. */
export function effectsTable(catalog: Catalog): string {
  const handlers = [
    catalog.tools,
    catalog.prompts,
    catalog.resources,
    catalog.resourceTemplates,
  ].flatMap((list) => list.map((one) => one.handler));
  if (handlers.length === 0) return "  nothing is served\n";
  const rows = handlers.map((handler) => [
    handler.name,
    handler.kind,
    handler.effects,
    reason(handler),
  ]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map(
      (row) =>
        `  ${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function reason(handler: CompiledHandler): string {
  if (handler.effects === "repeatable") return handler.effectsReason;
  return handler.hasKey
    ? `${handler.effectsReason}; repeated first calls join`
    : handler.effectsReason;
}

/**
 * Once tools whose code has steps but no key: a first call that is sent twice runs twice. A look at the source text: it can
 * miss steps behind other functions, so it only warns.
 */
export function keylessStepTools(server: ServerDefinition, catalog: Catalog): readonly string[] {
  return (server.tools ?? [])
    .filter((tool) => {
      const handler = catalog.findTool(tool.name);
      return (
        handler?.effects === "once" && !handler.hasKey && /\bstep\s*\(/.test(String(tool.handler))
      );
    })
    .map((tool) => tool.name);
}
