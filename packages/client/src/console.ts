/**
 * A person at a terminal, as two streams.
 *
 * Called by the terminal gates; owns the readline interface and nothing of what is asked. Invariants:
 *
 * 1. A line that was there before its question is shown is not an answer to it when a person types (type-ahead would confirm what
 *    nobody has read). Lines of a pipe are answers in order: a script cannot type ahead.
 * 2. End of input, an abort and Ctrl-C give undefined, never an empty line.
 * 3. What is not interactive is not read at all.
 */
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Where the gates speak. */
export interface Console {
  readonly interactive: boolean;
  readonly color: boolean;
  /** Prints lines. The caller has neutralised what others wrote. */
  say(text: string): void;
  /** Asks for one line. Undefined: there is nobody, or nobody any more. */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/** What a console on streams needs. */
export interface StreamConsoleOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly interactive: boolean;
  readonly color: boolean;
  /** Called on Ctrl-C. */
  readonly onInterrupt?: () => void;
}

/** A console on streams; `input` is first read when the first question is asked. */
export function streamConsole(options: StreamConsoleOptions): Console {
  const lines: string[] = [];
  let reader: Interface | undefined;
  let ended = false;
  let wake = (): void => undefined;

  const isTerminal = isTty(options.input) && isTty(options.output);
  const open = (): Interface => {
    const opened = createInterface({
      input: options.input,
      output: options.output,
      terminal: isTerminal,
    });
    opened.on("line", (line) => {
      lines.push(line);
      wake();
    });
    opened.on("close", () => {
      ended = true;
      wake();
    });
    opened.on("SIGINT", () => {
      options.onInterrupt?.();
      opened.close();
    });
    return opened;
  };

  return {
    interactive: options.interactive,
    color: options.color,
    say: (text) => {
      options.output.write(`${text}\n`);
    },
    ask: async (prompt, signal) => {
      if (!options.interactive) return undefined;
      reader ??= open();
      if (isTerminal) lines.length = 0;
      if (ended && lines.length === 0) return undefined;
      reader.setPrompt(prompt);
      if (ended) options.output.write(prompt);
      else reader.prompt();
      const onAbort = (): void => wake();
      signal.addEventListener("abort", onAbort, { once: true });
      while (lines.length === 0 && !ended && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      signal.removeEventListener("abort", onAbort);
      return signal.aborted ? undefined : lines.shift();
    },
    close: () => {
      reader?.close();
    },
  };
}

function isTty(stream: Readable | Writable): boolean {
  return "isTTY" in stream && stream.isTTY === true;
}
