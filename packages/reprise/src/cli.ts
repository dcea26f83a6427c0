/**
 * The `reprise` command: reads flags, calls functions, sets the exit code. Nothing else is done here.
 *
 * What serves is loaded by the command that serves: a call from a terminal should not wait for a database and an HTTP
 * server to load.
 */

import { exitCodes, runCall, runResume } from "@reprise/client";
import { isRepriseError } from "@reprise/errors";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { KeysAction, KeysFlags } from "./keysCommand.ts";
import { requireNode } from "./nodeVersion.ts";
import { addOperatorCommands } from "./operatorCommands.ts";

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("a port is a whole number from 0 to 65535");
  return port;
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("the arguments are no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InvalidArgumentError("the arguments must be a JSON object");
  return value as Readonly<Record<string, unknown>>;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

interface TerminalFlags {
  readonly answer: readonly string[];
  readonly json?: true;
  readonly interactive?: true;
}

function terminal(flags: TerminalFlags): Parameters<typeof runResume>[1] {
  const { stdin: input, stdout: output, stderr: dialog } = process;
  const interactive = flags.interactive === true ? { interactive: true } : {};
  return {
    input,
    output,
    dialog,
    answers: flags.answer,
    json: flags.json === true,
    ...interactive,
  };
}

function command(): Command {
  const program = new Command("reprise")
    .description("Durable tools over MCP")
    .showHelpAfterError("(--help tells what is expected)")
    // Its own exit would be 1, which scripts know as a tool's error. Commands made below inherit this.
    .exitOverride();
  program
    .command("dev")
    .description("serve the server that FILE exports, on this machine, with the embedded store")
    .argument("<file>", "a TypeScript or JavaScript file: export default defineServer({ ... })")
    .option("--port <port>", "port; 0 takes a free one", portNumber, 3000)
    .option("--host <host>", "address; others than loopback need auth in the file's own serve()")
    .option("--data <dir>", "data directory", ".reprise")
    .addOption(
      new Option("--store <kind>", "none: keep nothing, every run is repeatable").choices(["none"]),
    )
    .addOption(
      new Option("--log-level <level>", "least level of log lines on stderr")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("warn"),
    )
    .action(
      async (
        file: string,
        flags: { port: number; host?: string; data: string; store?: "none"; logLevel: string },
      ) => {
        const { port, host, data, store, logLevel } = flags;
        const { dev } = await import("./dev.ts");
        await dev(file, { port, host, data, store, logLevel }, (text) =>
          process.stdout.write(`${text}\n`),
        );
      },
    );
  addRoles(program);
  program
    .command("call")
    .description("call a tool and answer its questions here")
    .argument("<url>", "MCP endpoint, such as http://127.0.0.1:3000/mcp")
    .argument("<tool>", "name of the tool")
    .argument("[json]", "arguments as a JSON object", jsonObject, {})
    .option("--answer <key=json>", "prepared answer; may be given again", collect, [])
    .option(
      "--save <file>",
      "stop at the first question without an answer and keep the call in this file",
    )
    .option("--json", "print the whole result as JSON")
    .option("--interactive", "ask on stdin although it is no terminal")
    .action(
      async (
        url: string,
        tool: string,
        args: Readonly<Record<string, unknown>>,
        flags: TerminalFlags & { save?: string },
      ) => {
        const save = flags.save === undefined ? {} : { saveFile: flags.save };
        process.exitCode = await runCall({ ...terminal(flags), ...save, url, tool, args });
      },
    );
  program
    .command("resume")
    .description("go on with a call that was saved")
    .argument("<file>", "file of reprise call --save")
    .option("--answer <key=json>", "prepared answer; may be given again", collect, [])
    .option("--json", "print the whole result as JSON")
    .option("--interactive", "ask on stdin although it is no terminal")
    .action(async (file: string, flags: TerminalFlags) => {
      process.exitCode = await runResume(file, terminal(flags));
    });
  addKeys(program);
  addOperatorCommands(program, {
    print: (text) => void process.stdout.write(`${text}\n`),
    complain: (text) => void process.stderr.write(`${text}\n`),
    exitWith: (code) => {
      process.exitCode = code;
    },
  });
  return program;
}

/** `keys`: the ring of request state keys that the instances on one Redis share. */
function addKeys(program: Command): void {
  const keys = program
    .command("keys")
    .description("see, renew and revoke the keys of request states that instances share in Redis");
  const add = (name: string, description: string): Command =>
    keys
      .command(name)
      .description(description)
      .option(
        "--redis <url>",
        "redis://[user:password@]host:port, rediss:// for TLS, or a socket; without it as for front",
      )
      .option("--config <file>", "JSON file with settings; REPRISE_* variables win over it")
      .option("--namespace <name>", "the namespace of the instances, else that of the settings")
      .option("--json", "print JSON");
  const run = async (action: KeysAction, flags: KeysFlags): Promise<void> => {
    const { runKeys } = await import("./keysCommand.ts");
    await runKeys(action, flags, (text) => process.stdout.write(`${text}\n`));
  };
  add("list", "show all keys").action((flags: KeysFlags) => run({ name: "list" }, flags));
  add("rotate", "ask every instance for a new key").action((flags: KeysFlags) =>
    run({ name: "rotate" }, flags),
  );
  add("revoke", "take a key away for ever: what it sealed is refused within 10 s")
    .argument("<kid>", "as `reprise keys list` shows it")
    .option("--unknown", "also a key that the ring does not have")
    .action((kid: string, flags: KeysFlags & { unknown?: true }) =>
      run({ name: "revoke", kid, ...flags }, flags),
    );
}

/** `front`, `worker` and `ops`: what they are told is in their settings, so they have no flags but for where those are. */
function addRoles(program: Command): void {
  const roles = {
    front: "serve the server that FILE exports, on one of many instances that share a Redis",
    worker: "run the handlers of the server that FILE exports, for fronts that share the Redis",
    ops: "serve the dashboard of the fronts and workers that share the Redis and serve FILE",
  };
  for (const role of ["front", "worker", "ops"] as const) {
    program
      .command(role)
      .description(roles[role])
      .argument("[file]", "as for dev; without it the setting serverFile")
      .option("--config <file>", "JSON file with settings; REPRISE_* variables win over it")
      .action(async (file: string | undefined, { config }: { config?: string }) => {
        const { runFront, runOps, runWorker } = await import("./roleCommands.ts");
        const runs = { front: runFront, worker: runWorker, ops: runOps };
        await runs[role]({ file, configFile: config });
      });
  }
}

try {
  requireNode(process.versions.node);
  await command().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // It has said what is wrong, or printed the help that was asked for.
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  } else {
    process.stderr.write(`${shown(error)}\n`);
    process.exitCode = exitCodes.usage;
  }
}

function shown(error: unknown): string {
  if (isRepriseError(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
