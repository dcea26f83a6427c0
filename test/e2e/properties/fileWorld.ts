/**
 * The world of a case that kills processes: a file that each child reads at its start and appends to with one write a line, so
 * what a killed process had written is there.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { type Happening, World } from "@reprise/testing/simulation";

/** A world that several processes share. */
export class FileWorld extends World {
  readonly #file: string;

  /** @param file where the log is kept */
  constructor(file: string) {
    super();
    this.#file = file;
    this.refresh();
  }

  /** Takes in what other processes have written since. */
  refresh(): void {
    if (!existsSync(this.#file)) return;
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(this.log.length, -1);
    for (const line of lines) this.take(JSON.parse(line) as Happening);
  }

  override note(happening: Happening): void {
    appendFileSync(this.#file, `${JSON.stringify(happening)}\n`);
    super.note(happening);
  }
}
