/**
 * What the exit codes of `reprise call` and `reprise resume` mean. Scripts rely on them: a number is never given another meaning.
 */

/** The exit codes by name. */
export const exitCodes: {
  /** The call has its result. */
  readonly done: 0;
  /** The tool's result is an error (`isError`). */
  readonly toolError: 1;
  /** An argument, an answer or the saved file can't be used; nothing was sent, or nothing more. */
  readonly usage: 2;
  /** The server refused, asked something that can't be shown, or never came to an end. */
  readonly refusedByServer: 3;
  /** No response. With a file the call can be resumed. */
  readonly unreachable: 4;
  /** Questions are open and the call is in the file: `reprise resume FILE`. */
  readonly waiting: 5;
  /** Questions are open, nobody answered, and there is no file. On the handshake era the call was given up. */
  readonly unanswered: 6;
  /** The person refused a sampling or roots ask, which ends the call. */
  readonly refusedByPerson: 7;
  /** The call was to be kept in a file, and servers of the handshake era can't go on with such a call; nothing was called. */
  readonly cannotWait: 8;
  /** Ctrl-C. */
  readonly interrupted: 130;
} = Object.freeze({
  done: 0,
  toolError: 1,
  usage: 2,
  refusedByServer: 3,
  unreachable: 4,
  waiting: 5,
  unanswered: 6,
  refusedByPerson: 7,
  cannotWait: 8,
  interrupted: 130,
});
