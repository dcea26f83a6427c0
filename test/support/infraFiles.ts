/**
 * The files of `infra` as data, for the tests that judge them.
 */
import { parseAllDocuments } from "yaml";
import { files, textOf } from "./sourceTree.ts";

/** The documents of a YAML file. @throws Error with every finding of the parser, also its warnings */
export function documentsOf(file: string): readonly unknown[] {
  const documents = parseAllDocuments(textOf(file), { merge: true, uniqueKeys: true });
  if (!Array.isArray(documents)) throw new Error(`${file} is empty`);
  return documents.map((document) => {
    const findings = [...document.errors, ...document.warnings];
    if (findings.length > 0) throw new Error(`${file}: ${findings.map(String).join("; ")}`);
    const value: unknown = document.toJS();
    return value;
  });
}

/** One instruction of a Dockerfile. */
export interface Instruction {
  readonly stage: string;
  readonly name: string;
  readonly rest: string;
}

/** The instructions of the images' Dockerfile, continued lines joined. */
export function dockerInstructions(): readonly Instruction[] {
  const text = textOf("infra/images/Dockerfile")
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "");
  let stage = "";
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", rest = ""] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
      if (name === "") throw new Error(`the Dockerfile has a line that is no instruction: ${line}`);
      if (name === "FROM") stage = / AS (\S+)$/.exec(rest)?.[1] ?? "";
      return { stage, name, rest };
    });
}

/** Whether a path of an image, below its working directory, is built from a file of the checkout. */
export function isBuilt(path: string): boolean {
  const source = path.replace("/dist/", "/src/").replace(/\.js$/, ".ts");
  return files.includes(source);
}

/** `20s` as seconds. */
export function seconds(text: string): number {
  const found = /^(\d+)s$/.exec(text);
  if (found === null) throw new Error(`${text} is no number of seconds`);
  return Number(found[1]);
}
