/**
 * Options of the dashboard, checked once.
 */
import {
  type Clock,
  createProcessRecords,
  type HistoryStore,
  type Logger,
  type RunOperator,
  type SharedRecords,
  type StoreHealth,
  silentLogger,
  systemClock,
} from "@reprise/runtime";
import type { SignIn } from "./auth/signIn.ts";
import type { KeyDesk, QueueDesk, WorkerDesk } from "./ports.ts";

/** Options of `opsPlugin`. */
export interface OpsOptions {
  readonly history: HistoryStore;
  readonly operator: RunOperator;
  /** How people sign in: `createLinkSignIn` on loopback in development, else `createOidcSignIn`. There is no way around it. */
  readonly signIn: SignIn;
  /** Whether runs can be recorded now, and how full the store is, where it can tell: as the store's `health`. */
  readonly health: () => Promise<StoreHealth>;
  /**
   * Where sessions are, for all dashboards of a deployment: whoever has signed in at one has at all of them. Default: the memory of
   * this process, with which they end.
   */
  readonly records?: SharedRecords;
  /** Shown at the top of each page. Default `Reprise`. */
  readonly server?: string;
  readonly queues?: QueueDesk | undefined;
  readonly keys?: KeyDesk | undefined;
  readonly workers?: WorkerDesk | undefined;
  /** Names that the Host header may carry besides loopback ones: `name` or `name:port`. Default none. */
  readonly allowedHosts?: readonly string[];
  /** How often the store is looked at for the pages that are open, all together. Default 2000. */
  readonly pollMs?: number;
  /** Pages that are open at a time; more get 503. Default 100. */
  readonly maxViewers?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** What the parts are given. */
export type OpsConfig = Required<
  Pick<
    OpsOptions,
    | "history"
    | "operator"
    | "signIn"
    | "health"
    | "records"
    | "server"
    | "allowedHosts"
    | "pollMs"
    | "maxViewers"
    | "clock"
    | "logger"
  >
> &
  Pick<OpsOptions, "queues" | "keys" | "workers">;

/** @throws RangeError naming the option */
export function resolveOptions(options: OpsOptions): OpsConfig {
  const { pollMs = 2000, maxViewers = 100 } = options;
  for (const [name, value] of Object.entries({ pollMs, maxViewers })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`${name} is ${value}; give a whole number of at least 1`);
    }
  }
  const clock = options.clock ?? systemClock;
  return {
    ...options,
    records: options.records ?? createProcessRecords(() => clock.now()),
    server: options.server ?? "Reprise",
    allowedHosts: [...(options.allowedHosts ?? [])],
    pollMs,
    maxViewers,
    clock,
    logger: options.logger ?? silentLogger,
  };
}
