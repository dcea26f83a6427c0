/**
 * What fronts tell one another: hints over the shared records' channels.
 *
 * | channel      | notice                                  | who reacts                              |
 * |--------------|-----------------------------------------|-----------------------------------------|
 * | `front-<id>` | the id of a call                        | that front looks at the call's record   |
 * | `calls`      | `{"cancel": <call id>, "reason": ...}`  | who drives a call without a record      |
 * | `sessions`   | the id of a session that has ended      | who holds streams or calls of it        |
 *
 * Every notice may be lost. All but the second only hasten what a later look at a record finds anyway; a call without a
 * record whose cancellation is lost goes on, which the protocol allows.
 */
import { isJsonObject, type JsonValue } from "@reprise/protocol";
import type { SharedRecords } from "@reprise/runtime";

/** Who reacts to notices. */
export interface NoticeListener {
  look(callId: string): void;
  cancel(callId: string, reason: string | undefined): void;
  sessionEnded(sessionId: string): void;
}

/** Sends and hears notices for one front. */
export class Notices {
  readonly #shared: SharedRecords;
  readonly #me: string;
  readonly #listener: NoticeListener;
  readonly #failed: (error: unknown) => void;
  #starting: Promise<void> | undefined;
  #ends: (() => void)[] = [];

  constructor(
    shared: SharedRecords,
    me: string,
    listener: NoticeListener,
    failed: (error: unknown) => void,
  ) {
    this.#shared = shared;
    this.#me = me;
    this.#listener = listener;
    this.#failed = failed;
  }

  /** Resolves once notices are heard. Rejects when the store can't be reached; the next call tries again. */
  listening(): Promise<void> {
    this.#starting ??= this.#listen().catch((error: unknown) => {
      this.close();
      throw error;
    });
    return this.#starting;
  }

  look(front: string, callId: string): void {
    this.#publish(`front-${front}`, callId);
  }

  cancel(callId: string, reason: string | undefined): void {
    this.#publish("calls", JSON.stringify({ cancel: callId, reason }));
  }

  sessionEnded(sessionId: string): void {
    this.#publish("sessions", sessionId);
  }

  close(): void {
    this.#starting = undefined;
    for (const end of this.#ends) end();
    this.#ends = [];
  }

  async #listen(): Promise<void> {
    const listener = this.#listener;
    await this.#hear(`front-${this.#me}`, (callId) => listener.look(callId));
    await this.#hear("sessions", (sessionId) => listener.sessionEnded(sessionId));
    await this.#hear("calls", (notice) => {
      const message = parsed(notice);
      const callId = message?.["cancel"];
      const reason = message?.["reason"];
      if (typeof callId !== "string") return;
      listener.cancel(callId, typeof reason === "string" ? reason : undefined);
    });
  }

  async #hear(channel: string, heard: (notice: string) => void): Promise<void> {
    this.#ends.push(await this.#shared.listen(channel, heard));
  }

  #publish(channel: string, notice: string): void {
    this.#shared.publish(channel, notice).catch(this.#failed);
  }
}

/** Another release's notice may be anything. */
function parsed(notice: string): { readonly [member: string]: JsonValue } | undefined {
  try {
    const value = JSON.parse(notice) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
