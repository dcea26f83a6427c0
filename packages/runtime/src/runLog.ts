/**
 * Log lines of one attempt: each says of which run, round and handler it is.
 *
 * Made for every attempt, so it costs an object; what the lines say is asked for only when one is written.
 */
import type { Logger } from "./logger.ts";

/** A logger of one attempt. */
export class RunLog implements Logger {
  readonly #log: Logger;
  readonly #runId: () => string;
  readonly #round: number;
  readonly #handler: string;

  /**
   * @param runId draws an id for the line if the run has none yet
   * @param handler its name in the catalog
   */
  constructor(log: Logger, runId: () => string, round: number, handler: string) {
    this.#log = log;
    this.#runId = runId;
    this.#round = round;
    this.#handler = handler;
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
    return { run: this.#runId(), round: this.#round, handler: this.#handler, ...fields };
  }
}
