/**
 * Programs of this workspace as child processes, run from source: started, heard, ended.
 *
 * 1. Nothing waits by time: a start ends with a ready line or with the child's end, a stop with its end.
 * 2. A child that a test starts is ended when that test, or the file's last one, is over; one that does not end on
 *    SIGTERM is killed, and the stop says so.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { plainEnvironment } from "./config.ts";

/** How a child ended, and all it printed. */
export interface Ended {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A child process that may still run. */
export interface Child {
  readonly pid: number;
  readonly input: NodeJS.WritableStream;
  /** All that was printed so far. */
  printed(): { readonly stdout: string; readonly stderr: string };
  /** Resolves once a line of stdout or stderr matches; rejects with the output when the child ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** The same for what need not be a whole line, such as a prompt: all of stdout, then of stderr, is looked at. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
  /** Sends SIGTERM, or what is given, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What node needs to run this workspace from source. */
export const fromSource: readonly string[] = ["--conditions=@reprise/source", "--import", "tsx"];

/** A drain and a closing store take less; a child that takes longer hangs. */
const stopTimeoutMs = 30_000;

/** Starts node with `args`; `env` is laid over the environment of a plain shell. */
export function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = root,
): Child {
  return startCommand(process.execPath, args, env, cwd);
}

/** Starts any command; otherwise as `startNode`. */
export function startCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = root,
): Child {
  const child = spawn(command, args, { cwd, env: plainEnvironment(env), stdio: "pipe" });
  const printed = { stdout: "", stderr: "" };
  const lines: string[] = [];
  const looking = new Set<() => void>();
  const look = (): void => {
    for (const each of looking) each();
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
      look();
    });
    createInterface({ input: child[name] }).on("line", (line) => {
      lines.push(line);
      look();
    });
  }
  // A child that is gone before it read everything is judged by its exit, not by a broken pipe.
  child.stdin.on("error", () => undefined);
  const ended = endOf(child, printed);
  const until = (pattern: RegExp, texts: () => readonly string[]): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const search = (): void => {
        const found = texts()
          .map((text) => pattern.exec(text))
          .find((match) => match !== null);
        if (found === undefined || found === null) return;
        looking.delete(search);
        resolve(found);
      };
      looking.add(search);
      search();
      void ended.then(({ code, signal, stdout, stderr }) => {
        reject(
          new Error(`ended (${signal ?? code}) without ${String(pattern)}\n${stdout}${stderr}`),
        );
      });
    });
  return {
    pid: child.pid ?? Number.NaN,
    input: child.stdin,
    printed: () => ({ ...printed }),
    line: (pattern) => until(pattern, () => lines),
    shows: (pattern) => until(pattern, () => [printed.stdout, printed.stderr]),
    ended,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      const end = await ended;
      clearTimeout(timer);
      return end;
    },
  };
}

async function endOf(
  child: ChildProcess,
  printed: { readonly stdout: string; readonly stderr: string },
): Promise<Ended> {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code: code ?? undefined, signal: signal ?? undefined, ...printed };
}
