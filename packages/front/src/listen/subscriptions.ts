/**
 * subscriptions/listen: the streams over which clients of 2026-07-28 hear that something changed.
 *
 * The front makes one, calls `open` for each request and `close` before it stops. What changed, here or on any other instance,
 * comes from the runtime; nothing of a subscription is kept outside this process, and a client whose stream broke opens
 * another one, anywhere.
 *
 * 1. A subscription hears of what its filter names and its caller may read, and of nothing else. What is not there and what the
 *    caller may not read are left out of the acknowledgement alike.
 * 2. It ends with the caller's token: from then on nobody knows whether the caller still may hear.
 * 3. Changes are told `gatherMs` after the first, each once: by then the other instances have heard of it too, and a client
 *    that lists again anywhere gets the new list.
 */
import { RepriseError } from "@reprise/errors";
import {
  acknowledgedNotification,
  completeResult,
  type JsonObject,
  type ListenFilter,
  listenNotification,
  listenResult,
  type ModernRequest,
  type RequestId,
  type ResultEnding,
  readListen,
  resultResponse,
} from "@reprise/protocol";
import type { Caller, Catalog, Clock, Runtime } from "@reprise/runtime";
import { hearsUntil } from "../auth/hearing.ts";
import type { Exchange } from "../exchange.ts";
import type { FrontMetrics } from "../metrics.ts";
import type { FrontConfig } from "../options.ts";
import { Wheel } from "../wheel.ts";
import { Audience, type ChangingList, type Member } from "./audience.ts";
import { Subscription, type SubscriptionSettings } from "./subscription.ts";
import { SwitchedList } from "./switchedList.ts";

const method = "subscriptions/listen";

/**
 * After how long changes are told, in both eras: longer than notices take between instances, and a fraction of the second
 * within which a change is to be heard.
 */
export const gatherMs = 100;

/** A reader that misses so many comments in a row is not there. */
const missedBeats = 4;

/** Whether a server has anything to be heard of: tools and prompts can be switched, resources updated. */
export function servesListen(catalog: Catalog): boolean {
  return catalog.hasTools || catalog.hasPrompts || servesResources(catalog);
}

/** Whether there is anything to be read. */
export function servesResources({ resources, resourceTemplates }: Catalog): boolean {
  return resources.length > 0 || resourceTemplates.length > 0;
}

/** The open subscriptions of one front. */
export class Subscriptions {
  readonly #config: FrontConfig;
  readonly #runtime: Runtime;
  readonly #clock: Clock;
  readonly #metrics: FrontMetrics;
  readonly #ending: ResultEnding;
  readonly #settings: SubscriptionSettings;
  readonly #wheel: Wheel;
  readonly #audience = new Audience();
  readonly #stopHearing: () => void;
  readonly #lists: Readonly<Record<ChangingList, SwitchedList>>;
  #updated = new Set<string>();
  #cancelTelling: (() => void) | undefined;
  #isClosed = false;

  /** `ending` is what every complete result of the server ends with. */
  constructor(config: FrontConfig, metrics: FrontMetrics, ending: ResultEnding) {
    const { runtime, clock } = config;
    this.#config = config;
    this.#runtime = runtime;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#ending = ending;
    this.#settings = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      heartbeatMs: config.heartbeatMs,
      stallMs: config.heartbeatMs * missedBeats,
    };
    this.#wheel = new Wheel(clock);
    this.#lists = {
      tools: new SwitchedList(() => runtime.catalog.tools),
      prompts: new SwitchedList(() => runtime.catalog.prompts),
    };
    this.#stopHearing = runtime.onChange((change) => {
      if (change.kind === "toolsChanged") this.#listChanged("tools");
      else if (change.kind === "promptsChanged") this.#listChanged("prompts");
      else if (change.kind === "resourceUpdated") this.#resourceUpdated(change.uri);
    });
  }

  /**
   * Answers a request with a stream that stays open.
   * @throws RepriseError INVALID_PARAMS, UNAUTHORIZED (the token has just expired) or BUSY
   */
  open({ id, params }: ModernRequest, caller: Caller, exchange: Exchange): void {
    const filter = readListen(id, params);
    const { protectedResource } = this.#config;
    const expiresAt = hearsUntil(caller, this.#clock.now(), protectedResource, exchange);
    this.#admit(caller);
    const { catalog } = this.#runtime;
    const uris = this.#readable(filter, caller);
    const honoured = honouredOf(filter, uris, catalog);
    const { principal, scopes } = caller;
    const member = {
      ...{ principal, uris },
      scopes: this.#config.authenticate === undefined ? undefined : scopes,
      changed: {
        tools: changedOf("tools", honoured, id),
        prompts: changedOf("prompts", honoured, id),
      },
      updated: updatedOf(id),
    };
    this.#begin(exchange, member, id, expiresAt).begin(acknowledgedNotification(id, honoured));
  }

  /** Tells what is gathered, ends all in order and takes no more. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#stopHearing();
    this.#cancelTelling?.();
    this.#tell();
    for (const { subscription } of this.#audience.all()) subscription.end();
    this.#wheel.stop();
  }

  /** Only what is named here lives as long as the stream: nothing of the request but its id. */
  #begin(
    exchange: Exchange,
    facts: Omit<Member, "subscription">,
    id: RequestId,
    expiresAt: number | undefined,
  ): Subscription {
    const subscription = new Subscription(exchange.handOver(), this.#settings, {
      expiresAt,
      result: () => resultResponse(id, completeResult(listenResult(id), this.#ending)),
      closed: (end) => {
        this.#audience.delete(member);
        this.#wheel.delete(subscription);
        this.#metrics.streamsChanged(-1);
        this.#metrics.requestEnded(method, end);
      },
    });
    const member: Member = { ...facts, subscription };
    this.#audience.add(member);
    this.#wheel.add(subscription);
    this.#metrics.streamsChanged(1);
    return subscription;
  }

  #admit({ principal }: Caller): void {
    const { maxSubscriptions, maxSubscriptionsPerCaller, authenticate } = this.#config;
    if (this.#isClosed) throw busy("This front is stopping; repeat the request");
    if (this.#audience.size >= maxSubscriptions) {
      throw busy(
        `This front has ${maxSubscriptions} open subscriptions; repeat when one has ended`,
      );
    }
    // Without auth all callers are one.
    if (authenticate === undefined) return;
    if (this.#audience.countOf(principal) >= maxSubscriptionsPerCaller) {
      throw busy(
        `This caller has ${maxSubscriptionsPerCaller} open subscriptions here; repeat when one has ended`,
      );
    }
  }

  /** The URIs of a filter that name something, and something that the caller may read. */
  #readable({ resourceSubscriptions = [] }: ListenFilter, { scopes }: Caller): readonly string[] {
    const isOpen = this.#config.authenticate === undefined;
    return resourceSubscriptions.filter((uri) => {
      const handler = this.#runtime.catalog.findResource(uri)?.handler;
      return handler?.scopes.every((scope) => isOpen || scopes.includes(scope)) ?? false;
    });
  }

  #listChanged(list: ChangingList): void {
    this.#lists[list].note();
    this.#tellSoon();
  }

  #resourceUpdated(uri: string): void {
    if (!this.#audience.follows(uri)) return;
    this.#updated.add(uri);
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#isClosed) return;
    this.#cancelTelling ??= this.#clock.after(gatherMs, () => this.#tell());
  }

  #tell(): void {
    const updated = this.#updated;
    this.#cancelTelling = undefined;
    this.#updated = new Set();
    for (const list of ["tools", "prompts"] as const) {
      const switched = this.#lists[list].take();
      if (switched.size > 0) this.#audience.listChanged(list, switched);
    }
    for (const uri of updated) this.#audience.updated(uri);
  }
}

/** What of a filter is delivered. The lists of resources are fixed at start: there is nothing to tell of them. */
function honouredOf(filter: ListenFilter, uris: readonly string[], catalog: Catalog): JsonObject {
  const follows = filter.resourceSubscriptions !== undefined && servesResources(catalog);
  return {
    ...(filter.toolsListChanged && catalog.hasTools ? { toolsListChanged: true } : {}),
    ...(filter.promptsListChanged && catalog.hasPrompts ? { promptsListChanged: true } : {}),
    ...(follows ? { resourceSubscriptions: [...uris] } : {}),
  };
}

/** Keeps the id alone of the request. */
function updatedOf(id: RequestId): Member["updated"] {
  return (uri) => listenNotification("notifications/resources/updated", id, { uri });
}

function changedOf(list: ChangingList, honoured: JsonObject, id: RequestId): string | undefined {
  if (honoured[`${list}ListChanged`] !== true) return undefined;
  return listenNotification(`notifications/${list}/list_changed`, id);
}

function busy(why: string): RepriseError {
  return new RepriseError("BUSY", `${why}.`, { data: { retryAfterMs: 1000 } });
}
