/**
 * The host behind the page: one connection, one call at a time, and the question before the person.
 *
 * Called by the view; calls the client's loop, whose host it is. The gates themselves are views; here is what holds whatever they
 * do:
 *
 * 1. A question is answered by a call of its `reply`, made by the view after what the person did, or by nothing.
 * 2. A call that can be gone on with is in the storage before each of its requests is sent, and leaves it with its end.
 * 3. One call at a time: on the handshake era nothing in a browser tells whose a question is (`connect` for pages).
 * 4. What a connection or call that is no longer shown still tells changes nothing.
 */
import {
  type AskContext,
  connect,
  type Era,
  type Failure,
  type FormReply,
  failureOf,
  type Host,
  type HostClient,
  type Later,
  newIdempotencyKey,
  type Outcome,
  ProtocolError,
  type RootsReply,
  type SampleReply,
  type SavedCall,
  type UrlReply,
} from "reprise/client/browser";
import { callResult } from "./callResult.ts";
import type { KeptCall, KeptCalls } from "./keptCalls.ts";
import { type Fetch, type Passed, recordingFetch } from "./recorder.ts";
import type { CallState, CallStatus, HostState, OpenQuestion } from "./state.ts";

/** What the session needs of its page. */
export interface SessionOptions {
  readonly mcpUrl: string;
  readonly fetch: Fetch;
  readonly kept: KeptCalls;
}

/** See the top of this file. */
export class HostSession {
  readonly #options: SessionOptions;
  readonly #listeners = new Set<() => void>();
  #state: HostState;
  #client: HostClient | undefined;
  /** Of the connection that is shown; a message of an earlier one is not. */
  #connection = 0;
  #stop = new AbortController();
  #questions = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#state = {
      era: "modern",
      connection: { status: "opening" },
      call: undefined,
      opening: [],
      passed: [],
      kept: options.kept.of(options.mcpUrl),
      storageFailed: false,
    };
  }

  get state(): HostState {
    return this.#state;
  }

  /** Calls `listener` after each change, until the function that it gives is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the connection in the era; the one that is open is closed. Not while a call is under way. */
  async open(era: Era = this.#state.era): Promise<void> {
    if (this.isBusy) return;
    this.#connection += 1;
    const connection = this.#connection;
    const before = this.#client;
    this.#client = undefined;
    this.#set({ era, connection: { status: "opening" }, opening: [], call: undefined, passed: [] });
    // A courtesy to the server; a failure of it is none of ours.
    void before?.close().catch(() => undefined);
    try {
      const client = await this.#connect(era, connection);
      const tools = await client.listTools();
      if (connection !== this.#connection) {
        await client.close();
        return;
      }
      this.#client = client;
      const revision = client.official.getNegotiatedProtocolVersion() ?? "unknown";
      this.#set({ connection: { status: "open", server: client.server, revision, tools } });
    } catch (error) {
      if (connection !== this.#connection) return;
      this.#set({ connection: { status: "failed", failure: failureOf(error) } });
    }
  }

  /** Whether a call runs or asks. */
  get isBusy(): boolean {
    const kind = this.#state.call?.status.kind;
    return kind === "running" || kind === "asking";
  }

  /** Calls a tool. `idempotencyKey`: of an earlier call, to repeat it. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    idempotencyKey: string = newIdempotencyKey(),
  ): Promise<void> {
    const { era } = this.#state;
    await this.#run(
      { tool, args, era, idempotencyKey, status: { kind: "running" } },
      [],
      (client) => client.callTool(tool, args, { idempotencyKey, signal: this.#stop.signal }),
    );
  }

  /** Makes the call that is shown once more, under its own key. */
  async repeat(): Promise<void> {
    const { call } = this.#state;
    if (call !== undefined) await this.call(call.tool, call.args, call.idempotencyKey);
  }

  /** Goes on with a kept call: its open question is asked again, or its last request sent again. */
  async resume({ call, passed }: KeptCall): Promise<void> {
    const { name, arguments: args } = call.request.params;
    const shown: CallState = {
      tool: String(name),
      args: (args ?? {}) as CallState["args"],
      era: "modern",
      idempotencyKey: call.idempotencyKey,
      status: { kind: "running" },
      saved: call,
    };
    await this.#run(shown, passed, (client) => client.resume(call, { signal: this.#stop.signal }));
  }

  /** Forgets a kept call. The server's run ends when its question expires. */
  forget(kept: KeptCall): void {
    this.#options.kept.forget(kept.call);
    this.#keptChanged();
  }

  /** Gives the running call up: the request is closed, or cancelled on the handshake era. */
  stop(): void {
    this.#stop.abort(new Stopped());
  }

  /** What the call that is shown is kept as, if it can be gone on with. */
  get resumable(): KeptCall | undefined {
    const { call, passed } = this.#state;
    if (call?.saved === undefined || this.isBusy) return undefined;
    const isOpen = this.#options.kept
      .of(this.#options.mcpUrl)
      .some((kept) => kept.call.idempotencyKey === call.idempotencyKey);
    return isOpen ? { call: call.saved, passed } : undefined;
  }

  async #connect(era: Era, connection: number): Promise<HostClient> {
    const { mcpUrl, fetch } = this.#options;
    return await connect({
      url: mcpUrl,
      host: this.#host(),
      era,
      clientInfo: { name: "reprise-browser-host", version: "0.1.0" },
      fetch: recordingFetch(fetch, (passed) => {
        if (connection === this.#connection) this.#passed(passed);
      }) as typeof globalThis.fetch,
      onChange: async (call) => this.#saved(call),
      // Progress and log lines are shown as the messages that they are.
      onProgress: () => undefined,
      logLevel: "debug",
    });
  }

  async #run(
    call: CallState,
    passed: readonly Passed[],
    make: (client: HostClient) => Promise<Outcome<unknown>>,
  ): Promise<void> {
    const client = this.#client;
    if (client === undefined || this.isBusy) return;
    this.#stop = new AbortController();
    this.#set({ call, passed: [...passed] });
    this.#keptChanged();
    this.#status(await this.#ended(client, make));
    this.#keptChanged();
  }

  async #ended(
    client: HostClient,
    make: (client: HostClient) => Promise<Outcome<unknown>>,
  ): Promise<CallStatus> {
    try {
      const outcome = await make(client);
      switch (outcome.status) {
        case "waiting":
          this.#saved(outcome.call);
          return { kind: "left" };
        case "refused":
          this.#over();
          return { kind: "refused" };
        case "complete": {
          this.#over();
          const { result, outputProblem } = outcome;
          const done = { kind: "done", result: callResult(result) } as const;
          return outputProblem === undefined ? done : { ...done, outputProblem };
        }
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return { kind: "stopped" };
      return this.#failed(error);
    }
  }

  #failed(error: unknown): CallStatus {
    const failure: Failure = failureOf(error);
    // What the server refused it refuses again; all else can be gone on with when its cause is mended.
    if (error instanceof ProtocolError) this.#over();
    const isKept = this.#state.call?.saved !== undefined && !(error instanceof ProtocolError);
    return { kind: "failed", failure, isKept };
  }

  #over(): void {
    const saved = this.#state.call?.saved;
    if (saved !== undefined) this.#options.kept.forget(saved);
  }

  #host(): Host {
    return {
      form: (ask, context) =>
        this.#ask<FormReply>(context, (base) => ({ ...base, kind: "form", ask })),
      url: (ask, context) =>
        this.#ask<UrlReply>(context, (base) => ({ ...base, kind: "url", ask })),
      sample: (ask, context) =>
        this.#ask<SampleReply>(context, (base) => ({ ...base, kind: "sample", ask })),
      roots: (ask, context) =>
        this.#ask<RootsReply>(context, (base) => ({ ...base, kind: "roots", ask })),
      completed: (ask) => {
        const status = this.#state.call?.status;
        if (status?.kind !== "asking" || status.question.ask.key !== ask.key) return;
        this.#status({ kind: "asking", question: { ...status.question, isCompleted: true } });
      },
    };
  }

  /** Shows a question until it is answered, given up or taken back. */
  #ask<R>(
    context: AskContext,
    question: (base: {
      readonly number: number;
      readonly context: AskContext;
      readonly reply: (reply: R | Later) => void;
    }) => OpenQuestion,
  ): Promise<R | Later> {
    this.#questions += 1;
    const number = this.#questions;
    return new Promise((resolve) => {
      const settle = (reply: R | Later): void => {
        const status = this.#state.call?.status;
        if (status?.kind === "asking" && status.question.number === number) {
          this.#status({ kind: "running" });
        }
        resolve(reply);
      };
      if (context.signal.aborted) {
        resolve({ action: "later" });
        return;
      }
      context.signal.addEventListener("abort", () => settle({ action: "later" }), { once: true });
      this.#status({
        kind: "asking",
        question: question({ number, context, reply: settle }),
      });
    });
  }

  #passed(passed: Passed): void {
    if (passed.part === "opening") {
      this.#set({ opening: [...this.#state.opening, passed] });
      return;
    }
    this.#set({ passed: [...this.#state.passed, passed] });
    const saved = this.#state.call?.saved;
    if (saved !== undefined && this.isBusy) this.#keep(saved);
  }

  #saved(call: SavedCall): void {
    const shown = this.#state.call;
    if (shown?.idempotencyKey !== call.idempotencyKey) return;
    this.#set({ call: { ...shown, saved: call } });
    this.#keep(call);
  }

  #keep(call: SavedCall): void {
    const isKept = this.#options.kept.keep({ call, passed: this.#state.passed });
    if (isKept === this.#state.storageFailed) this.#set({ storageFailed: !isKept });
  }

  #keptChanged(): void {
    const shown = this.#state.call?.idempotencyKey;
    const { kept, mcpUrl } = this.#options;
    this.#set({
      kept: kept.of(mcpUrl).filter(({ call }) => call.idempotencyKey !== shown),
    });
  }

  #status(status: CallStatus): void {
    const { call } = this.#state;
    if (call !== undefined) this.#set({ call: { ...call, status } });
  }

  #set(change: Partial<HostState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Why a call was given up; never shown. */
class Stopped extends Error {
  override get name(): string {
    return "Stopped";
  }
}
