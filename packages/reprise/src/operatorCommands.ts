/**
 * The flags of the commands for operators: `reprise runs`. What they do is in files that are loaded when they are used.
 *
 * Exit codes: 0 done, 1 failed (a store that can't be reached), 2 used wrongly, 3 no such run, 4 the run does not stand where the
 * action applies.
 */
import { isRepriseError } from "@reprise/errors";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ListFlags, RunsAction, RunsFlags } from "./runsCommand.ts";

/** How a command speaks and ends. */
export interface CommandOutput {
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  readonly exitWith: (code: number) => void;
}

const FAILED = 1;

const examples = `
Examples:
  reprise runs list --data .reprise --status waiting
  reprise runs list --redis redis://127.0.0.1:6379 --status attention --since 2h --json
  reprise runs show <run> --data .reprise --reveal
  reprise runs find refund_order o-17 --server shop --data .reprise
  reprise runs retry <run> --data .reprise
  reprise runs finish <run> --as failed --text "Refunded by hand." --data .reprise

Exit codes: 0 done, 1 failed, 2 used wrongly, 3 no such run, 4 the action does not apply to the run.`;

/** Adds `runs` to the program. */
export function addRuns(program: Command, output: CommandOutput): void {
  const runs = program
    .command("runs")
    .description("see runs and mend them: list, show, find, cancel, retry, finish, release")
    .addHelpText("after", examples);
  const add = (name: string, description: string): Command =>
    runs
      .command(name)
      .description(description)
      .option("--data <dir>", "data directory of reprise dev, also while that runs on it")
      .option("--redis <url>", "redis://..., rediss://... or a socket; without both as for front")
      .option("--config <file>", "JSON file with settings; REPRISE_* variables win over it")
      .option("--namespace <name>", "the namespace of the instances, else that of the settings")
      .option("--json", "print JSON");
  const run = async (action: RunsAction, flags: RunsFlags): Promise<void> => {
    const { runRuns } = await import("./runsCommand.ts");
    try {
      output.exitWith(await runRuns(action, flags, output.print));
    } catch (error) {
      if (!isRepriseError(error) || error.code === "CONFIG_INVALID") throw error;
      output.complain(`${error.code}: ${error.message}`);
      output.exitWith(FAILED);
    }
  };
  add("list", "list runs, the newest first")
    .addOption(
      new Option("--status <status>", "attention: what somebody should look at").choices([
        "running",
        "waiting",
        "completed",
        "failed",
        "interrupted",
        "mismatched",
        "parked",
        "cancelled",
        "undone",
        "attention",
      ]),
    )
    .option("--tool <name>", "of this tool, prompt or resource")
    .option("--caller <principal>", "of this caller")
    .option("--since <time>", "changed since then: ISO 8601, or a span such as 30m, 2h, 3d")
    .option("--until <time>", "changed before then")
    .option("--limit <count>", "at most so many, 1 to 100", pageLength, 20)
    .option("--cursor <text>", "go on after the page that named it")
    .action((flags: RunsFlags & ListFlags) => run({ name: "list", flags }, flags));
  add("show", "show a run: where it stands, its journal and its timeline")
    .argument("<run>", "run id")
    .option("--reveal", "show arguments, answers and results as well; that is in the audit log")
    .action((runId: string, flags: RunsFlags & { reveal?: true }) =>
      run({ name: "show", runId, reveal: flags.reveal === true }, flags),
    );
  add("find", "find the run that an idempotency key leads to")
    .argument("<tool>", "name of the tool")
    .argument("<key>", "the idempotency key")
    .requiredOption("--server <name>", "name of the served definition")
    .option("--caller <principal>", "whose key it is, unless it is the tool's")
    .action((tool: string, key: string, flags: RunsFlags & { caller?: string }) =>
      run({ name: "find", tool, key, caller: flags.caller }, flags),
    );
  add("cancel", "end a run that is no longer wanted; what it did is undone where it can be")
    .argument("<run>", "run id")
    .option("--reason <text>", "told to those who ask for the run")
    .action((runId: string, flags: RunsFlags & { reason?: string }) =>
      run({ name: "cancel", runId, reason: flags.reason }, flags),
    );
  add("retry", "try a failed or interrupted run again from its failed step")
    .argument("<run>", "run id")
    .action((runId: string, flags: RunsFlags) => run({ name: "retry", runId }, flags));
  add("finish", "end a waiting, interrupted, mismatched or parked run by hand")
    .argument("<run>", "run id")
    .addOption(
      new Option("--as <end>", "what it ends as")
        .choices(["completed", "failed"])
        .makeOptionMandatory(),
    )
    .requiredOption("--text <text>", "what the caller is told, 1 to 2,000 characters")
    .action((runId: string, flags: RunsFlags & { as: "completed" | "failed"; text: string }) =>
      run({ name: "finish", runId, as: flags.as, text: flags.text }, flags),
    );
  add("release", "let a parked or mismatched run go on")
    .argument("<run>", "run id")
    .action((runId: string, flags: RunsFlags) => run({ name: "release", runId }, flags));
}

function pageLength(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100)
    throw new InvalidArgumentError("a page has 1 to 100 runs");
  return count;
}
