/**
 * Logging as a port; pino's shape, so that a pino or fastify logger fits as it is.
 */

/** Writes one line of fields and a message. Must not throw. */
export type LogLine = (fields: object, message: string) => void;

/** Where the runtime reports what operators should know. */
export interface Logger {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

const nothing: LogLine = () => undefined;

/** Drops everything. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
