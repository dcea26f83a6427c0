/**
 * One GET stream of a session on this front, and what it has not said yet.
 *
 * `SessionStreams` keeps here what changed, and asks for it when the stream may speak. Nothing here reads the store.
 *
 * 1. A change is kept until it is said here, or until whoever speaks instead has lived so much longer that it has said it.
 * 2. What is kept is bounded by the session's subscriptions: of what the session does not want, nothing is kept.
 */
import { listChangedNotification, resourceUpdatedNotification } from "@reprise/protocol";
import type { Catalog } from "@reprise/runtime";
import type { Ticked } from "../wheel.ts";
import type { CallPorts } from "./callPorts.ts";
import type { EventStream } from "./eventStream.ts";
import type { SessionRecord } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/** What is told: another list of tools or prompts, or a resource's new contents. */
export type ServerChange =
  | { readonly kind: "toolsChanged" }
  | { readonly kind: "promptsChanged" }
  | { readonly kind: "resourceUpdated"; readonly uri: string };

/** What a stream may have to say: a change, or that its client may have missed any. */
export type Saying = ServerChange | { readonly kind: "missed" };

/** The notifications that a saying comes to in a session. */
export function notificationsOf(
  saying: Saying,
  { subscriptions = [] }: SessionRecord,
  { hasTools, hasPrompts }: Pick<Catalog, "hasTools" | "hasPrompts">,
): readonly string[] {
  switch (saying.kind) {
    case "toolsChanged":
      return [listChangedNotification("tools")];
    case "promptsChanged":
      return [listChangedNotification("prompts")];
    case "resourceUpdated":
      return subscriptions.includes(saying.uri) ? [resourceUpdatedNotification(saying.uri)] : [];
    case "missed":
      return [
        ...(hasTools ? [listChangedNotification("tools")] : []),
        ...(hasPrompts ? [listChangedNotification("prompts")] : []),
        ...subscriptions.map(resourceUpdatedNotification),
      ];
  }
}

/** What a stream needs of the lane. */
export interface SessionStreamPorts extends Pick<CallPorts, "clock" | "heartbeatMs"> {
  /** Looks whether the stream may say what it keeps. Never rejects. */
  readonly look: (member: SessionStream) => Promise<void>;
}

interface Kept {
  readonly saying: Saying;
  /** Monotonic time at which it was heard last. */
  readonly at: number;
}

/** A stream and its session. */
export class SessionStream implements Ticked {
  readonly session: LegacySession;
  /** Tells it from all other streams. */
  readonly name: string;
  readonly stream: EventStream;
  /** Monotonic time from which it is looked whether this stream speaks. */
  lookAt: number;
  readonly #ports: SessionStreamPorts;
  /** By what is said, the oldest first. */
  readonly #kept = new Map<string, Kept>();
  #looking: Promise<void> | undefined;

  /** `lookAt`: when to look for the first time. */
  constructor(
    session: LegacySession,
    name: string,
    stream: EventStream,
    lookAt: number,
    ports: SessionStreamPorts,
  ) {
    this.session = session;
    this.name = name;
    this.stream = stream;
    this.lookAt = lookAt;
    this.#ports = ports;
  }

  /** When the oldest that is kept was heard; undefined: nothing is. */
  get oldest(): number | undefined {
    const [oldest] = this.#kept.values();
    return oldest?.at;
  }

  get kept(): readonly Saying[] {
    return [...this.#kept.values()].map(({ saying }) => saying);
  }

  keep(sayings: readonly Saying[]): void {
    const at = this.#ports.clock.monotonic();
    for (const saying of sayings) {
      const key = JSON.stringify(saying);
      this.#kept.delete(key);
      this.#kept.set(key, { saying, at });
    }
  }

  /** Forgets what was heard up to a time, and what `isWanted` denies. */
  forget(until: number, isWanted: (saying: Saying) => boolean = () => true): void {
    for (const [key, { saying, at }] of this.#kept)
      if (at <= until || !isWanted(saying)) this.#kept.delete(key);
  }

  /** Looks now, once more after a look that is under way. Never rejects. */
  async look(): Promise<void> {
    while (this.#looking !== undefined) await this.#looking;
    this.#looking = this.#ports.look(this);
    await this.#looking;
    this.#looking = undefined;
  }

  tick(now: number): void {
    const { clock, heartbeatMs } = this.#ports;
    const { expiresAt = this.session.expiresAt, writtenAt } = this.stream;
    if (clock.now() >= Math.min(expiresAt, this.session.expiresAt)) return this.stream.end();
    if (now - writtenAt >= heartbeatMs) this.stream.comment();
    if (now >= this.lookAt && this.#looking === undefined) void this.look();
  }
}
