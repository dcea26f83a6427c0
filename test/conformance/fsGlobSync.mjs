/**
 * Lets the MCP conformance suite start on Node 20. Preloaded with `node --import <this file>`.
 *
 * The suite's bundle imports `globSync` from `fs`, which Node has from version 22; only its GitHub tier check
 * calls it, but a missing named import stops the whole module graph at link time. The hook answers that one
 * import, made from the suite's own bundle, with a module that adds a `globSync` that throws; nobody else's
 * import of `fs` is touched. On Node 22 and newer it does nothing.
 */
import * as fs from "node:fs";
import { register } from "node:module";

if (!("globSync" in fs)) {
  const shim = [
    'export * from "node:fs";',
    'export { default } from "node:fs";',
    'export function globSync() { throw new Error("globSync needs Node 22"); }',
  ].join("\n");
  const hook = `
    const shimUrl = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(shim)}`)};
    export async function resolve(specifier, context, next) {
      const fromSuite = context.parentURL?.includes("/conformance/dist/") === true;
      if (fromSuite && (specifier === "fs" || specifier === "node:fs")) {
        return { url: shimUrl, format: "module", shortCircuit: true };
      }
      return next(specifier, context);
    }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
