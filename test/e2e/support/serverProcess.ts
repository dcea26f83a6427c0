/**
 * A server process as the test holds it: started ahead of time, opened on some data, steered point by point, killed
 * where it stands.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Command, Composition, Report } from "./messages.ts";

/** A point that a process has come to. It waits there until `go` is called. */
export interface ReachedPoint {
  readonly name: string;
  go(): void;
}

/** What a test does at the points of a process. */
export interface Steering {
  reached(point: ReachedPoint): void;
  /** A connection was closed before its response was through. */
  gone?(): void;
}

/** Lets every point go at once. */
export const letGo: Steering = { reached: (point) => point.go() };

/** One server process. */
export class ServerProcess {
  /** What decides at its points. Set it before `open`. */
  steering: Steering = letGo;
  /** Names of the points that it has come to, in order. */
  readonly names: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #awaited = new Map<Report["tells"], (report: Report) => void>();
  readonly #loaded: Promise<unknown>;
  #url: string | undefined;
  #fail: (error: Error) => void = () => undefined;
  readonly #failure: Promise<never>;
  #mayEnd = false;

  /** @param program the file of `bundleProgram` */
  constructor(program: string) {
    const stdio = ["ignore", "inherit", "inherit", "ipc"] as const;
    this.#child = fork(program, [], { execArgv: [], stdio: [...stdio] });
    this.#failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failure.catch(() => undefined);
    this.#ended = once(this.#child, "exit");
    this.#child.once("exit", (code, signal) => {
      if (!this.#mayEnd) this.#fail(new Error(`a server process ended with ${signal ?? code}`));
    });
    this.#loaded = this.#next("loaded");
    this.#child.on("message", (report: Report) => {
      try {
        this.#receive(report);
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** The value, unless the process fails, ends without being told to, or its steering throws before that. */
  unlessItFails<Value>(value: Promise<Value>): Promise<Value> {
    return Promise.race([value, this.#failure]);
  }

  /** The MCP endpoint. */
  get url(): string {
    if (this.#url === undefined) throw new Error("the process serves nothing yet");
    return this.#url;
  }

  /** Serves a composition. */
  async open(composition: Composition): Promise<void> {
    await this.#loaded;
    const opened = this.#next("opened");
    this.#send({ do: "open", composition });
    const report = await opened;
    if (report.tells === "opened") this.#url = report.url;
  }

  /** Ends what is served, in an orderly way; gives the names of all points. The process can open again. */
  async close(): Promise<readonly string[]> {
    const closed = this.#next("closed");
    this.#send({ do: "close" });
    await closed;
    this.steering = letGo;
    return this.names.splice(0);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#mayEnd = true;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** SIGSTOP, in a moment in which the process is not inside the store. */
  async freeze(): Promise<void> {
    const freezing = this.#next("freezing");
    this.#send({ do: "freeze" });
    await freezing;
  }

  /** SIGCONT. */
  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  #send(command: Command): void {
    // A process that was killed meanwhile needs no commands; whoever waits for it hears of its end.
    if (this.#child.connected) this.#child.send(command, () => undefined);
  }

  #next(tells: Report["tells"]): Promise<Report> {
    const told = new Promise<Report>((resolve) => {
      this.#awaited.set(tells, resolve);
    });
    return this.unlessItFails(told);
  }

  #receive(report: Report): void {
    switch (report.tells) {
      case "point": {
        const { point, name } = report;
        this.names.push(name);
        this.steering.reached({ name, go: () => this.#send({ do: "go", point }) });
        return;
      }
      case "gone":
        this.steering.gone?.();
        return;
      case "failed":
        this.#fail(new Error(report.message));
        return;
      default: {
        const resolve = this.#awaited.get(report.tells);
        this.#awaited.delete(report.tells);
        resolve?.(report);
      }
    }
  }
}
