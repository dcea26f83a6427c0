/**
 * `reprise completion`: a script for a shell that completes commands, their options and choices, made from the commands themselves.
 *
 * The command line calls it. zsh takes the bash script through its own bashcompinit.
 */
import type { Command } from "commander";

/** Shells that are known. */
export const shells = ["bash", "zsh", "fish"] as const;
/** One of `shells`. */
export type Shell = (typeof shells)[number];

interface Level {
  /** Names of the commands that lead here, without `reprise`. */
  readonly path: readonly string[];
  readonly commands: readonly Command[];
  /** Long options with a dash, and what they may be given. */
  readonly options: readonly { readonly name: string; readonly choices: readonly string[] }[];
}

/** The script. */
export function completionScript(shell: Shell, program: Command): string {
  const levels = levelsOf(program, []);
  switch (shell) {
    case "bash":
      return bash(levels);
    case "zsh":
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(levels)}`;
    case "fish":
      return fish(levels);
  }
}

function levelsOf(command: Command, path: readonly string[]): readonly Level[] {
  const commands = command.commands.filter((one) => one.name() !== "help");
  const options = command.options.flatMap(({ long, argChoices }) =>
    long === undefined || long === null ? [] : [{ name: long, choices: argChoices ?? [] }],
  );
  const own = { path, commands, options: [...options, { name: "--help", choices: [] }] };
  return [own, ...commands.flatMap((one) => levelsOf(one, [...path, one.name()]))];
}

function bash(levels: readonly Level[]): string {
  const deeper = levels
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `      "${path.join(" ")}") path="${path.join(" ")}" ;;`);
  const words = levels.map(
    ({ path, commands, options }) =>
      `    "${path.join(" ")}") words="${[...commands.map((one) => one.name()), ...options.map(({ name }) => name)].join(" ")}" ;;`,
  );
  const choices = levels.flatMap(({ path, options }) =>
    options
      .filter((option) => option.choices.length > 0)
      .map(
        ({ name, choices: given }) =>
          `    "${[...path, name].join(" ")}") words="${given.join(" ")}" ;;`,
      ),
  );
  return `${[
    "_reprise() {",
    `  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" word`,
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    `    case "\${path:+$path }$word" in`,
    ...deeper,
    "    esac",
    "  done",
    `  case "$path" in`,
    ...words,
    "  esac",
    `  case "\${path:+$path }$prev" in`,
    ...choices,
    "  esac",
    `  COMPREPLY=($(compgen -W "$words" -- "$cur"))`,
    `  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))`,
    "}",
    "complete -o filenames -F _reprise reprise",
  ].join("\n")}\n`;
}

function fish(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, commands, options }) => {
    const names = commands.map((one) => one.name()).join(" ");
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
    const here = [
      ...(path.length === 0 ? ["__fish_use_subcommand"] : seen),
      ...(path.length > 0 && names !== "" ? [`not __fish_seen_subcommand_from ${names}`] : []),
    ].join("; and ");
    return [
      ...commands.map(
        (one) =>
          `complete -c reprise -n ${quoted(here)} -a ${one.name()} -d ${quoted(one.description())}`,
      ),
      ...options.map(({ name, choices }) => {
        const values = choices.length === 0 ? "" : ` -x -a ${quoted(choices.join(" "))}`;
        return `complete -c reprise -n ${quoted(here)} -l ${name.slice(2)}${values}`;
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
