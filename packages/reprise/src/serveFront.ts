/**
 * `serveFront`: the HTTP front of many instances. A composition root: Redis, keys, pool, runtime and front meet here.
 *
 * It keeps nothing that another front would need, so any front may get any request, and the next one may die.
 */
import { type ListenOptions, listen } from "@reprise/front";
import { createPoolDispatcher } from "@reprise/pool";
import {
  createRuntime,
  type Dispatcher,
  type Runtime,
  type ServerDefinition,
  silentLogger,
} from "@reprise/runtime";
import { frontAuth } from "./frontAuth.ts";
import { requireNode } from "./nodeVersion.ts";
import { clockOf, poolOptions, roleSignals, runtimeOptions } from "./roleRuntime.ts";
import type { Settings } from "./settings.ts";
import { openShared } from "./shared.ts";
import type { Signals } from "./signals.ts";

/** What a front is given besides its settings. */
export interface FrontExtras {
  /**
   * Who calls; needed, or the settings `tokenIssuers` or `auth: "none"`, on an address that others reach. Contradicts
   * `tokenIssuers`.
   */
  readonly authenticate?: NonNullable<ListenOptions["authenticate"]>;
  /** What is published for clients that look for an authorization server. Only with `authenticate`. */
  readonly protectedResource?: NonNullable<ListenOptions["protectedResource"]>;
  /** Where log lines go: a pino logger, or one that looks like it. Default: nowhere. */
  readonly logger?: NonNullable<ListenOptions["logger"]>;
}

/** A front that listens. */
export interface ServedFront {
  /** The MCP endpoint. */
  readonly url: string;
  readonly port: number;
  readonly runtime: Runtime;
  /** Takes no new calls, lets running ones end or hands them over, closes what it opened. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves a definition over MCP on one of many instances.
 * @throws RepriseError DEFINITION_INVALID, CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE, PORT_IN_USE or NODE_TOO_OLD
 */
export async function serveFront(
  server: ServerDefinition,
  settings: Settings,
  { logger, ...exported }: FrontExtras = {},
): Promise<ServedFront> {
  requireNode(process.versions.node);
  const log = logger ?? silentLogger;
  const auth = frontAuth(settings, exported, log);
  const shared = await openShared(settings, log);
  let signals: Signals | undefined;
  let dispatcher: Dispatcher | undefined;
  let runtime: Runtime | undefined;
  const close = async (): Promise<void> => {
    // The runtime closes the store; what opened fails to be closed must not keep the rest open.
    await (runtime ?? shared.store).close();
    await dispatcher?.close();
    await signals?.close();
    await shared.close();
  };
  try {
    const told = roleSignals(server, settings, shared, log);
    signals = told;
    if (settings.dispatch === "pool") {
      dispatcher = await createPoolDispatcher(poolOptions(settings, shared, log));
    }
    const started = createRuntime({
      ...runtimeOptions(server, settings, shared, told, log),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    runtime = started;
    told.historyShown(started);
    // What is switched off must not be in the first list.
    await started.ready;
    const front = await listen({
      ...listenOptions(settings),
      ...auth,
      ...(logger === undefined ? {} : { logger }),
      metricsText: () => told.text(),
      runtime: started,
      clock: clockOf(shared.store),
    });
    let closing: Promise<void> | undefined;
    return {
      url: front.url,
      port: front.port,
      runtime: started,
      close() {
        // Calls first: a request under way has its answer before its connection is closed.
        closing ??= Promise.all([started.close(), front.close()]).then(close);
        return closing;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function listenOptions(settings: Settings): Omit<ListenOptions, "runtime"> {
  const { host, port, path, auth, allowedHosts, allowedOrigins, allowedHeaders } = settings;
  const { trustProxy } = settings;
  const { maxBodyBytes, pageSize, listTtlMs, heartbeatMs } = settings;
  const { requestTimeoutMs, headersTimeoutMs, metricsToken } = settings;
  const { maxSubscriptions, maxSubscriptionsPerCaller } = settings;
  return {
    ...{ host, port, path, allowedHosts, allowedOrigins, allowedHeaders },
    ...{ maxBodyBytes, pageSize, listTtlMs, heartbeatMs },
    ...{ requestTimeoutMs, headersTimeoutMs, metricsToken },
    ...{ maxSubscriptions, maxSubscriptionsPerCaller },
    legacy: legacyOptions(settings),
    trustProxy: trustProxy.includes("*") ? true : trustProxy,
    ...(auth === "none" ? { auth } : {}),
  };
}

function legacyOptions(settings: Settings): NonNullable<ListenOptions["legacy"]> {
  const { legacy, sessionLifetime, pollAfterMs, leaseMs } = settings;
  if (legacy === "none") return legacy;
  return { sessionLifetime, leaseMs, ...(pollAfterMs === 0 ? {} : { pollAfterMs }) };
}
