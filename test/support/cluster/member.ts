/**
 * One process of a cluster: started, killed, frozen, started again at the same address.
 *
 * 1. It runs in a session of its own: a Ctrl-C at the terminal reaches the cluster's parent alone, which ends the
 *    members in their order.
 * 2. A start resolves with the member's ready line and rejects, with what was printed, when it ends before.
 * 3. An end that nobody asked for is told to `onDeath`; one that was asked for never is.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { plainEnvironment } from "../config.ts";
import { root } from "../sourceTree.ts";

/** How a member is started. */
export interface MemberPlan {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Laid over the environment of a plain shell, without what is meant for the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** The line, of stdout or stderr, that says it serves. */
  readonly ready: RegExp;
  /** Whether `send` and `onMessage` work: the command is node. Default false. */
  readonly ipc?: boolean;
}

/** Who listens to the members. */
export interface MemberEvents {
  /** A member ended and nobody had asked it to. */
  onDeath?(member: Member, how: string): void;
  /** A process of a member has ended, asked to or not. */
  onEnd?(member: Member, pid: number): void;
  /** A line that a member printed. */
  onLine?(member: Member, line: string): void;
  /** What a member with `ipc` sent. */
  onMessage?(member: Member, message: unknown): void;
}

/** How long an orderly end may take: a drain takes at most 12 s. */
const stopTimeoutMs = 20_000;
/** What is kept of the output for the message of a failed start. */
const keptLines = 200;

/** A process of a cluster. */
export class Member {
  readonly name: string;
  readonly #plan: MemberPlan;
  readonly #events: MemberEvents;
  readonly #lines: string[] = [];
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve("not started");
  #mayEnd = true;

  constructor(plan: MemberPlan, events: MemberEvents = {}) {
    this.name = plan.name;
    this.#plan = plan;
    this.#events = events;
  }

  /** Of the process that runs now. @throws Error when none does */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run`);
    return pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** The last lines that it printed, over all its lives. */
  printed(): string {
    return this.#lines.join("\n");
  }

  /** Starts it; resolves with the match of its ready line. */
  async start(): Promise<RegExpExecArray> {
    if (this.#child !== undefined) throw new Error(`${this.name} runs already`);
    const { command, args, env = {}, ready, ipc = false } = this.#plan;
    const child = spawn(command, args, {
      cwd: root,
      env: { ...forMembers(plainEnvironment()), ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...(ipc ? (["ipc"] as const) : [])],
    });
    this.#child = child;
    this.#mayEnd = false;
    this.#ended = this.#endOf(child);
    child.on("message", (message: unknown) => this.#events.onMessage?.(this, message));
    const isReady = new Promise<RegExpExecArray>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        if (stream === null) continue;
        createInterface({ input: stream }).on("line", (line) => {
          this.#lines.push(line);
          if (this.#lines.length > keptLines) this.#lines.shift();
          this.#events.onLine?.(this, line);
          const found = ready.exec(line);
          if (found !== null) resolve(found);
        });
      }
    });
    const ended = this.#ended;
    return Promise.race([
      isReady,
      ended.then((how) => {
        throw new Error(`${this.name} ended (${how}) before it served\n${this.printed()}`);
      }),
    ]);
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#ended;
  }

  /** SIGTERM; resolves when it has ended. @throws Error when it hangs, after killing it */
  async stop(): Promise<void> {
    if (this.#child === undefined) return;
    // A stopped process would never see the signal.
    this.thaw();
    this.#signal("SIGTERM");
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#signal("SIGKILL");
    }, stopTimeoutMs);
    await this.#ended;
    clearTimeout(timer);
    if (isLate) {
      throw new Error(`${this.name} did not end on SIGTERM and was killed\n${this.printed()}`);
    }
  }

  /** SIGKILL if it runs, then a new start at the same address. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** SIGSTOP: it stands still until `thaw`, and keeps its connections. */
  freeze(): void {
    process.kill(this.pid, "SIGSTOP");
  }

  /** SIGCONT. */
  thaw(): void {
    if (this.#child !== undefined) this.#child.kill("SIGCONT");
  }

  /** Sends a message to a member with `ipc`. One that is gone needs none. */
  send(message: object): void {
    if (this.#child?.connected === true) this.#child.send(message, () => undefined);
  }

  #signal(signal: NodeJS.Signals): void {
    this.#mayEnd = true;
    this.#child?.kill(signal);
  }

  async #endOf(child: ChildProcess): Promise<string> {
    const [code, signal] = (await Promise.race([
      once(child, "close"),
      // A command that can't be started has no exit.
      once(child, "error").then(([error]) => [String(error), null]),
    ])) as [number | string | null, string | null];
    const how = signal ?? `exit code ${String(code)}`;
    this.#child = undefined;
    if (child.pid !== undefined) this.#events.onEnd?.(this, child.pid);
    if (!this.#mayEnd) this.#events.onDeath?.(this, how);
    return how;
  }
}

/** What the tests are told must not reach a server, which takes every unknown `REPRISE_` name for a mistake. */
function forMembers(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^(REPRISE_(TEST_|DATA$)|(OPS_)?PORT$|SHOP_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
}
