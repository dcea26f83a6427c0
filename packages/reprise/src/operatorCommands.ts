/**
 * The flags of the commands for operators: `runs`, `doctor`, `state`, `completion`. What they do is in files that are loaded when they
 * are used.
 *
 * Exit codes: 0 done, 1 failed (a store that can't be reached), 2 used wrongly, 3 no such run, 4 the run does not stand where the
 * action applies.
 */
import { isRepriseError } from "@reprise/errors";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { completionScript, type Shell, shells } from "./completion.ts";
import type { DoctorFlags } from "./doctorCommand.ts";
import type { ListFlags, RunsAction, RunsFlags } from "./runsCommand.ts";
import type { StateFlags } from "./stateCommand.ts";

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

const doctorExamples = `
Examples:
  reprise doctor server.ts --data .reprise
  reprise doctor --redis redis://127.0.0.1:6379 --front http://10.0.0.5:3000 --front http://10.0.0.6:3000 --json

Exit codes: 0 nothing serious, 1 something serious, 2 used wrongly.`;

const stateExamples = `
Examples:
  reprise state inspect eyJhbGciOi... --data .reprise
  REPRISE_REQUEST_STATE_KEY=... reprise state inspect eyJhbGciOi... --reveal

Exit codes: 0 a key of this deployment has sealed it, 1 not so, 2 used wrongly.`;

/** Adds them to the program. */
export function addOperatorCommands(program: Command, output: CommandOutput): void {
  addRuns(program, output);
  addDoctor(program, output);
  addState(program, output);
  program
    .command("completion")
    .description(
      "print a script that completes commands; for bash: source <(reprise completion bash)",
    )
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(shells))
    .action((shell: Shell) => output.print(completionScript(shell, program)));
}

/** How every command for operators is told where the runs are. */
function placed(command: Command): Command {
  return command
    .option("--data <dir>", "data directory of reprise dev, also while that runs on it")
    .option("--redis <url>", "redis://..., rediss://... or a socket; without both as for front")
    .option("--config <file>", "JSON file with settings; REPRISE_* variables win over it")
    .option("--namespace <name>", "the namespace of the instances, else that of the settings")
    .option("--json", "print JSON");
}

/** Ends with the code that `work` gives; what it could not reach is told in a line. */
async function ended(output: CommandOutput, work: () => Promise<number>): Promise<void> {
  try {
    output.exitWith(await work());
  } catch (error) {
    if (!isRepriseError(error) || error.code === "CONFIG_INVALID") throw error;
    output.complain(`${error.code}: ${error.message}`);
    output.exitWith(FAILED);
  }
}

function addDoctor(program: Command, output: CommandOutput): void {
  const collect = (value: string, before: readonly string[]): readonly string[] => [
    ...before,
    value,
  ];
  placed(
    program
      .command("doctor")
      .description("look at store, keys, instances, fronts and tools, and say what to do")
      .argument("[file]", "the server file, to look at its tools"),
  )
    .option("--front <url>", "a front to ask whether it is ready; may be given again", collect, [])
    .addHelpText("after", doctorExamples)
    .action((file: string | undefined, flags: DoctorFlags) =>
      ended(output, async () => {
        const { runDoctor } = await import("./doctorCommand.ts");
        return runDoctor(file, flags, output.print);
      }),
    );
}

function addState(program: Command, output: CommandOutput): void {
  const state = program.command("state").description("look into request states and session ids");
  placed(
    state
      .command("inspect")
      .description("show what a token says and whether a key of this deployment has sealed it")
      .argument("<token>", "a requestState or Mcp-Session-Id"),
  )
    .option("--reveal", "show the values in it as well")
    .addHelpText("after", stateExamples)
    .action((token: string, flags: StateFlags) =>
      ended(output, async () => {
        const { runStateInspect } = await import("./stateCommand.ts");
        return runStateInspect(token, flags, output.print);
      }),
    );
}

/** Adds `runs` to the program. */
function addRuns(program: Command, output: CommandOutput): void {
  const runs = program
    .command("runs")
    .description("see runs and mend them: list, show, find, cancel, retry, finish, release")
    .addHelpText("after", examples);
  const add = (name: string, description: string): Command =>
    placed(runs.command(name).description(description));
  const run = (action: RunsAction, flags: RunsFlags): Promise<void> =>
    ended(output, async () => {
      const { runRuns } = await import("./runsCommand.ts");
      return runRuns(action, flags, output);
    });
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
    .option("--longest-open", "with --status waiting: the question that is open longest first")
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
