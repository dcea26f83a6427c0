/**
 * Who is to hear of what: subscriptions by what they asked for, and by caller.
 *
 * `Subscriptions` adds a member when it opens and deletes it when it is over. It writes nothing.
 */
import type { CompiledHandler } from "@reprise/runtime";
import type { Subscription } from "./subscription.ts";

/** The lists whose entries can be switched. */
export type ChangingList = "tools" | "prompts";

/** An open subscription and what it may hear of. */
export interface Member {
  readonly subscription: Subscription;
  readonly principal: string;
  /** Scopes that decide which tools and prompts the caller sees; undefined: it sees all. */
  readonly scopes: readonly string[] | undefined;
  /** The messages that other tools or prompts are there; undefined: it does not want them. */
  readonly changed: Readonly<Record<ChangingList, string | undefined>>;
  /** The resources that it wants to hear of. */
  readonly uris: readonly string[];
  /** The message that a resource was updated. */
  readonly updated: (uri: string) => string;
}

/** All open subscriptions of a front. */
export class Audience {
  readonly #members = new Set<Member>();
  readonly #ofUri = new Map<string, Set<Member>>();
  readonly #countOf = new Map<string, number>();

  get size(): number {
    return this.#members.size;
  }

  /** How many a caller has. */
  countOf(principal: string): number {
    return this.#countOf.get(principal) ?? 0;
  }

  /** Whether anybody wants to hear of a resource. */
  follows(uri: string): boolean {
    return this.#ofUri.has(uri);
  }

  add(member: Member): void {
    this.#members.add(member);
    this.#countOf.set(member.principal, this.countOf(member.principal) + 1);
    for (const uri of member.uris) {
      const followers = this.#ofUri.get(uri) ?? new Set();
      this.#ofUri.set(uri, followers.add(member));
    }
  }

  delete(member: Member): void {
    if (!this.#members.delete(member)) return;
    const left = this.countOf(member.principal) - 1;
    if (left > 0) this.#countOf.set(member.principal, left);
    else this.#countOf.delete(member.principal);
    for (const uri of member.uris) {
      const followers = this.#ofUri.get(uri);
      followers?.delete(member);
      if (followers?.size === 0) this.#ofUri.delete(uri);
    }
  }

  /** A copy: members may go while they are told. */
  all(): readonly Member[] {
    return [...this.#members];
  }

  /** Says that these tools or prompts came or went, to those who see one of them. */
  listChanged(list: ChangingList, handlers: ReadonlySet<CompiledHandler>): void {
    for (const { subscription, changed, scopes } of this.all()) {
      const message = changed[list];
      if (message !== undefined && isSeen(handlers, scopes)) subscription.say(message);
    }
  }

  /** Says that a resource was updated, to those who follow it. */
  updated(uri: string): void {
    for (const { subscription, updated } of [...(this.#ofUri.get(uri) ?? [])]) {
      subscription.say(updated(uri));
    }
  }
}

function isSeen(
  handlers: ReadonlySet<CompiledHandler>,
  scopes: readonly string[] | undefined,
): boolean {
  if (scopes === undefined) return true;
  for (const handler of handlers) {
    if (handler.scopes.every((scope) => scopes.includes(scope))) return true;
  }
  return false;
}
