/**
 * Reads the workspace as text for the tests that judge it: files that git knows or would add, imports and
 * exports by pattern. TypeScript 7 has no stable compiler interface, and what these tests ask needs none:
 * the sources are formatted by one tool, so a declaration starts its line and an import has one shape.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const root: string = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** All files that are tracked or about to be, as paths relative to the checkout. */
export const files: readonly string[] = listFiles();

/** The text of a file of the checkout. */
export function textOf(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** The text without comments, so that an example in a doc comment is not taken for an import. */
export function codeOf(file: string): string {
  return textOf(file)
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "")
    .replaceAll(/^\s*\/\/.*$/gm, "");
}

/** Every module that a file imports or re-exports, static and dynamic, as written. */
export function importsOf(file: string): string[] {
  return importsIn(codeOf(file));
}

function importsIn(code: string): string[] {
  const patterns = [
    /^\s*(?:import|export)\s[^;"']*?\sfrom\s+["']([^"']+)["']/gm,
    /^\s*import\s+["']([^"']+)["']/gm,
    /\bimport\(\s*["']([^"']+)["']/g,
  ];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ""));
}

/** The imports that are left when types are erased: those that decide in which order files are loaded. */
export function runtimeImportsOf(file: string): string[] {
  const erased =
    /^\s*(?:import|export)\s+(?:type\s+\{[^}]*\}|\{(?:\s*type\s[^,}]*,?)+\s*\})\s+from\s+"[^"]+";/gm;
  return importsIn(codeOf(file).replaceAll(erased, ""));
}

/** The package of a bare import (`@scope/name/sub` gives `@scope/name`); undefined for relative and `node:`. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("node:")) return undefined;
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0];
}

/** The workspace folder (`packages/x`) that a file belongs to, or undefined. */
export function workspaceOf(file: string): string | undefined {
  return /^(?:packages|services)\/[^/]+/.exec(file)?.[0];
}

function listFiles(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const deleted = execFileSync("git", ["ls-files", "--deleted", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  const gone = new Set(deleted.split("\0"));
  return listed.split("\0").filter((file) => file !== "" && !gone.has(file));
}
