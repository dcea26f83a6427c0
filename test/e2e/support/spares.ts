/**
 * Server processes that are started before they are needed: loading their program takes longer than most cases.
 */
import { bundleProgram, type Program } from "./program.ts";
import { ServerProcess } from "./serverProcess.ts";

/** Processes in reserve. */
export class Spares {
  readonly #program: Program;
  readonly #count: number;
  readonly #ready: ServerProcess[] = [];
  readonly #taken = new Set<ServerProcess>();

  private constructor(program: Program, count: number) {
    this.#program = program;
    this.#count = count;
    this.#fill();
  }

  /** @param count how many processes are kept in reserve */
  static async start(count = 1): Promise<Spares> {
    return new Spares(await bundleProgram(), count);
  }

  /** A process that nobody else has. The reserve is filled up again at once. */
  take(): ServerProcess {
    const taken = this.#ready.shift() ?? new ServerProcess(this.#program.file);
    this.#fill();
    this.#taken.add(taken);
    return taken;
  }

  /** Gives a process back whose composition was closed. */
  giveBack(process: ServerProcess): void {
    this.#taken.delete(process);
    this.#ready.unshift(process);
  }

  /** Kills one process. */
  async kill(process: ServerProcess): Promise<void> {
    this.#taken.delete(process);
    await process.kill();
  }

  /** Kills them all. */
  async close(): Promise<void> {
    const all = [...this.#ready.splice(0), ...this.#taken];
    await Promise.all(all.map((process) => process.kill()));
    this.#program.remove();
  }

  #fill(): void {
    while (this.#ready.length < this.#count) {
      this.#ready.push(new ServerProcess(this.#program.file));
    }
  }
}
