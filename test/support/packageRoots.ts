/**
 * Follows the exports of a package root to their declarations, for the test that wants each one named
 * and documented. It understands what roots may contain (lists of names from a file or a package) and
 * reports everything else as a finding.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { codeOf, root, textOf } from "./sourceTree.ts";

/** What is wrong with a package root, one sentence a finding. */
export function findingsOfRoot(entry: string): string[] {
  const code = codeOf(entry);
  const findings: string[] = [];
  const rest = code.replaceAll(/export (?:type )?\{[^}]*\} from "[^"]+";/g, "").trim();
  if (rest !== "" && rest !== "export {};") {
    findings.push(`${entry} has more than named re-exports: ${rest.split("\n")[0]}`);
  }
  for (const { name, from } of reexportsOf(entry)) {
    if (name === "default" || name === "*") findings.push(`${entry} exports ${name}`);
    else findings.push(...undocumented(name, entry, from));
  }
  return findings;
}

function reexportsOf(file: string): { name: string; source: string; from: string }[] {
  const lists = codeOf(file).matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)";/g);
  return [...lists].flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((item) => item.trim().replace(/^type /, ""))
      .filter((item) => item !== "")
      .map((item) => {
        const [source = "", name = source] = item.split(/\s+as\s+/);
        return { name, source, from };
      }),
  );
}

function undocumented(name: string, file: string, from: string): string[] {
  const target = targetOf(file, from);
  // An outside package documents itself.
  if (target === undefined) return [];
  const source = reexportsOf(file).find((item) => item.name === name && item.from === from)?.source;
  const wanted = source ?? name;
  const onward = reexportsOf(target).find((item) => item.name === wanted);
  if (onward !== undefined) return undocumented(wanted, target, onward.from);
  const lines = textOf(target).split("\n");
  const at = lines.findIndex((line) => declares(line, wanted));
  if (at === -1) return [`${file}: no declaration of ${wanted} found in ${target}`];
  let above = at - 1;
  while (lines[above]?.startsWith("//")) above -= 1;
  return lines[above]?.trimEnd().endsWith("*/")
    ? []
    : [`${target}:${at + 1}: ${wanted} is exported by ${file} and has no doc comment`];
}

function declares(line: string, name: string): boolean {
  const kinds = "(?:declare )?(?:abstract )?(?:async )?(?:function\\*?|const|class|interface|type)";
  return new RegExp(`^export ${kinds} ${name.replaceAll("$", "\\$")}\\b`).test(line);
}

function targetOf(file: string, from: string): string | undefined {
  if (from.startsWith(".")) return path.join(path.dirname(file), from);
  const name = /^@reprise\/([^/]+)$/.exec(from)?.[1];
  const entry = name === undefined ? undefined : `packages/${name}/src/index.ts`;
  return entry !== undefined && existsSync(path.join(root, entry)) ? entry : undefined;
}
