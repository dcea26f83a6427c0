/**
 * A file of JSON lines that only grows: what the payment service and the mail server keep their facts in.
 *
 * 1. An entry is on disk (fsync) before `append` resolves, so whoever replies afterwards replies the truth.
 * 2. Entries stand in the order of the calls; lines are written one after the other, never interleaved.
 * 3. A last line without its newline was never acknowledged to anyone: opening cuts it off.
 * 4. After a failed write the file may end in half a line, so every later append fails too; opening repairs.
 */
import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";

/** An append-only log; `Entry` must be JSON. */
export class AppendLog<Entry> {
  readonly #file: FileHandle;
  #tail: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /**
   * Opens or creates the log and reads what it holds.
   * @throws SyntaxError naming the line when one before the last is no JSON; whatever `parse` throws
   */
  static async open<Entry>(
    path: string,
    parse: (value: unknown) => Entry,
  ): Promise<{ log: AppendLog<Entry>; entries: Entry[] }> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "a+");
    try {
      const text = await readFile(path);
      const end = text.lastIndexOf("\n") + 1;
      if (end < text.length) await file.truncate(end);
      await file.sync();
      await syncDirectory(dirname(path));

      const lines = text.toString("utf8", 0, end).split("\n").slice(0, -1);
      const entries = lines.map((line, index) => parse(parseLine(line, `${path}:${index + 1}`)));
      return { log: new AppendLog(file), entries };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Resolves once the entry is on disk. */
  append(entry: Entry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`;
    this.#tail = this.#tail.then(async () => {
      await this.#file.appendFile(line);
      await this.#file.datasync();
    });
    return this.#tail;
  }

  /** Waits for the appends under way, then closes the file. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#tail]);
    await this.#file.close();
  }
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new SyntaxError(`${where} is no JSON`, { cause });
  }
}

/** Makes the name of a new file durable: fsync of the file alone keeps only its content. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
