/**
 * Log lines of one attempt: each says of which run, round and handler it is.
 *
 * Made for every attempt, so it costs an object; what the lines say is asked for only when one is written.
 */
import type { Logger } from "./logger.ts";

/** What every line says. */
export interface LoggedRun {
  /** Drawn for the line if the run has none yet. */
  readonly runId: () => string;
  readonly round: number;
  /** Its name in the catalog. */
  readonly handler: string;
}

/** A logger of one attempt. */
export class RunLog implements Logger {
  readonly #log: Logger;
  readonly #run: LoggedRun;

  constructor(log: Logger, run: LoggedRun) {
    this.#log = log;
    this.#run = run;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(this.#with(fields), message);
  }

  info(fields: object, message: string): void {
    this.#log.info(this.#with(fields), message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(this.#with(fields), message);
  }

  error(fields: object, message: string): void {
    this.#log.error(this.#with(fields), message);
  }

  #with(fields: object): object {
    const { runId, round, handler } = this.#run;
    return { run: runId(), round, handler, ...fields };
  }
}
