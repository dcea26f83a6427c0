/**
 * `reprise call` and `reprise resume`: a call with a person at a terminal, as functions on streams.
 *
 * Called by the command, which only reads flags; calls the client. It never reads the environment and never exits: it returns the
 * exit code. Results go to `output`, everything else to `dialog`. Nothing is accepted that nobody accepted: without a person
 * and without a prepared answer the call stops at the question.
 */

import type { Readable, Writable } from "node:stream";
import {
  type ProgressCallback,
  ProtocolError,
  type Root,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import { isRepriseError, RepriseError } from "@reprise/errors";
import { loadCallFile, refuseExisting, removeCallFile, saveCallFile } from "./callFile.ts";
import { commandHost, sayOpen } from "./commandHost.ts";
import { connect } from "./connect.ts";
import { type Console, streamConsole } from "./console.ts";
import { exitCodes } from "./exitCodes.ts";
import type { AnyResult, ConnectOptions, HostClient, Outcome } from "./hostClient.ts";
import { type PreparedAnswers, parseAnswers } from "./preparedAnswers.ts";
import { printableLine } from "./printable.ts";
import type { SavedCall } from "./savedCall.ts";
import { resultJson, shownError, shownResult } from "./terminalResult.ts";
import type { Model } from "./terminalSample.ts";
import type { OpenUrl } from "./terminalUrl.ts";

/** What both commands need. */
export interface TerminalOptions {
  /** Where the person types. */
  readonly input: Readable;
  /** Where the result goes. */
  readonly output: Writable;
  /** Where questions and notes go. Default `output`. */
  readonly dialog?: Writable;
  /** Whether somebody is there to answer. Default: whether `input` is a terminal. */
  readonly interactive?: boolean;
  /** Default: whether `dialog` is a terminal. */
  readonly color?: boolean;
  /** Entries `key=json` for questions to come; see `parseAnswers`. */
  readonly answers?: readonly string[];
  /** Print the whole result as JSON. Default false. */
  readonly json?: boolean;
  /** Default: the system browser. */
  readonly openUrl?: OpenUrl;
  /** What a server is told that asks for roots, if the person agrees. Default none. */
  readonly roots?: readonly Root[];
  /** A model for sampling asks. Default: the person writes the answer. */
  readonly model?: Model;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
  /** Further options of `connect`. */
  readonly connection?: Omit<ConnectOptions, "url" | "host" | "onChange" | "signal">;
}

/** Options of `runCall`. */
export interface RunCallOptions extends TerminalOptions {
  readonly url: string;
  readonly tool: string;
  /** Arguments of the tool. Default none. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** Stop at the first question without a prepared answer and keep the call in this file, which must not exist yet. */
  readonly saveFile?: string;
}

/** Calls a tool. Resolves with one of `exitCodes`; rejects for nothing but a defect. */
export async function runCall(options: RunCallOptions): Promise<number> {
  const { saveFile: file, url, tool, args } = options;
  const interactive = file === undefined && isInteractive(options);
  return await run(options, { file, interactive }, async (say) => {
    if (file !== undefined) await refuseExisting(file);
    return {
      url,
      begin: async (client, signal) => {
        if (file !== undefined && client.era === "legacy") throw cannotBeKept();
        try {
          return await client.callTool(tool, args, { signal });
        } catch (error) {
          if (error instanceof ProtocolError) await sayOtherTools(client, tool, say, signal);
          throw error;
        }
      },
    };
  });
}

// Before the call: to give it up at its first question would leave it half done.
function cannotBeKept(): RepriseError {
  return new RepriseError(
    "CALL_CANNOT_WAIT",
    "This server has the handshake era, whose calls can't be kept in a file; nothing was called. Call it without --save.",
  );
}

/** A misspelt name is the most likely reason why a server refuses a call, and the list is known already. */
async function sayOtherTools(
  client: HostClient,
  tool: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const names = (await client.listTools({ signal }).catch(() => [])).map(({ name }) => name);
  if (names.length === 0 || names.includes(tool)) return;
  say(
    `There is no tool ${printableLine(tool)}. There are: ${names.map(printableLine).join(", ")}.`,
  );
}

/** Goes on with the call in `file`; the file is kept up to date, and removed when the call has its result. */
export async function runResume(file: string, options: TerminalOptions): Promise<number> {
  return await run(options, { file, interactive: isInteractive(options) }, async (say) => {
    const call = await loadCallFile(file);
    say(`Going on with ${callName(call)} at ${printableLine(call.url)}`);
    return {
      url: call.url,
      begin: async (client, signal) => await client.resume(call, { signal }),
    };
  });
}

/** What a command is about, known once its inputs have been read. */
interface Errand {
  readonly url: string;
  begin(client: HostClient, signal: AbortSignal): Promise<Outcome<AnyResult>>;
}

interface Setting {
  readonly file: string | undefined;
  readonly interactive: boolean;
}

async function run(
  options: TerminalOptions,
  { file, interactive }: Setting,
  prepare: (say: (text: string) => void) => Promise<Errand>,
): Promise<number> {
  const interrupt = new AbortController();
  const signal = AbortSignal.any([
    interrupt.signal,
    ...(options.signal === undefined ? [] : [options.signal]),
  ]);
  const dialog = options.dialog ?? options.output;
  const console = streamConsole({
    input: options.input,
    output: dialog,
    interactive,
    color: options.color ?? isTty(dialog),
    onInterrupt: () => interrupt.abort(new Error("interrupted")),
  });
  let saved = false;
  try {
    const answers = parseAnswers(options.answers ?? []);
    const errand = await prepare(console.say);
    const client = await connect({
      onProgress: progressLine(console, isTty(dialog)),
      signal,
      ...options.connection,
      url: errand.url,
      host: commandHost(options, console, answers),
      ...(file === undefined
        ? {}
        : {
            onChange: async (call: SavedCall) => {
              await saveCallFile(file, call);
              saved = true;
            },
          }),
    });
    try {
      const outcome = await errand.begin(client, signal);
      const code = await report(outcome, options, console, file, answers);
      return signal.aborted && outcome.status === "waiting" ? exitCodes.interrupted : code;
    } finally {
      await client.close();
    }
  } catch (error) {
    const code = signal.aborted ? exitCodes.interrupted : exitCodeOf(error);
    console.say(signal.aborted ? "Given up." : shownError(error));
    if (saved && file !== undefined)
      console.say(`The call is kept in ${file}: reprise resume ${file}`);
    return code;
  } finally {
    console.close();
  }
}

async function report(
  outcome: Outcome<AnyResult>,
  options: TerminalOptions,
  console: Console,
  file: string | undefined,
  unused: PreparedAnswers,
): Promise<number> {
  switch (outcome.status) {
    case "complete": {
      const { result, outputProblem } = outcome;
      options.output.write(`${options.json === true ? resultJson(result) : shownResult(result)}\n`);
      if (outputProblem !== undefined) {
        console.say(
          `Note: the result does not fit what the tool promised: ${printableLine(outputProblem)}.`,
        );
      }
      noteUnused(console, unused);
      if (file !== undefined) await removeCallFile(file);
      return "isError" in result && result.isError === true ? exitCodes.toolError : exitCodes.done;
    }
    case "refused":
      console.say(
        `Refused. The call ends here, and the server is sent nothing for "${printableLine(outcome.ask.key)}".`,
      );
      return exitCodes.refusedByPerson;
    case "waiting":
      for (const ask of outcome.open) sayOpen(console, ask);
      noteUnused(console, unused);
      if (file === undefined) {
        console.say(
          "Nobody answered, so nothing was accepted; the call was not kept (--save FILE keeps it).",
        );
        return exitCodes.unanswered;
      }
      await saveCallFile(file, outcome.call);
      console.say(`The call is kept in ${file}: reprise resume ${file}`);
      return exitCodes.waiting;
  }
}

function callName({ request }: SavedCall): string {
  const { method, params } = request;
  return printableLine(`${method} ${String(params[method === "resources/read" ? "uri" : "name"])}`);
}

/** Progress is asked for in any case: servers then send signs of life, which keep a long call from counting as broken. */
function progressLine(console: Console, shown: boolean): ProgressCallback {
  let last = "";
  return ({ progress, total, message }) => {
    const line = `  … ${progress}${total === undefined ? "" : `/${total}`} ${printableLine(message ?? "")}`;
    if (shown && line !== last) console.say(line);
    last = line;
  };
}

function noteUnused(console: Console, unused: PreparedAnswers): void {
  if (unused.size === 0) return;
  console.say(
    `Note: nothing was asked under ${[...unused.keys()].map((key) => JSON.stringify(key)).join(", ")}.`,
  );
}

function exitCodeOf(error: unknown): number {
  if (isRepriseError(error)) {
    if (error.code === "SERVER_UNREACHABLE") return exitCodes.unreachable;
    if (error.code === "CALL_CANNOT_WAIT") {
      return error.data?.["key"] === undefined ? exitCodes.cannotWait : exitCodes.unanswered;
    }
    return usageCodes.has(error.code) ? exitCodes.usage : exitCodes.refusedByServer;
  }
  if (error instanceof ProtocolError || error instanceof SdkHttpError)
    return exitCodes.refusedByServer;
  // Options of `connect`: the URL of the command line.
  if (error instanceof TypeError || error instanceof RangeError) return exitCodes.usage;
  return exitCodes.refusedByServer;
}

const usageCodes: ReadonlySet<RepriseError["code"]> = new Set([
  "ANSWER_UNUSABLE",
  "SAVED_CALL_INVALID",
  "FORMAT_UNKNOWN",
] as const);

function isInteractive(options: TerminalOptions): boolean {
  return options.interactive ?? isTty(options.input);
}

function isTty(stream: Readable | Writable): boolean {
  return "isTTY" in stream && stream.isTTY === true;
}
