/**
 * `serve`: a server definition on one machine, in one call. A composition root: here store, keys, runtime and front meet.
 */
import { join, resolve } from "node:path";
import { type ListenOptions, listen } from "@reprise/front";
import {
  createStateSealer,
  ephemeralKeys,
  type KeySource,
  keysFromSecrets,
} from "@reprise/request-state";
import {
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type ServerDefinition,
  silentLogger,
} from "@reprise/runtime";
import { type LmdbStore, type LmdbStoreOptions, openLmdbStore } from "@reprise/store-lmdb";
import { requireNode } from "./nodeVersion.ts";
import { embeddedOps } from "./opsEmbedded.ts";
import { instanceName, Signals } from "./signals.ts";

/** Options of `serve`. */
export interface ServeOptions
  extends Pick<
      ListenOptions,
      | "port"
      | "host"
      | "path"
      | "allowedHosts"
      | "allowedOrigins"
      | "trustProxy"
      | "allowedHeaders"
      | "authenticate"
      | "protectedResource"
      | "auth"
      | "maxBodyBytes"
      | "requestTimeoutMs"
      | "headersTimeoutMs"
      | "metricsToken"
      | "pageSize"
      | "listTtlMs"
      | "heartbeatMs"
      | "maxSubscriptions"
      | "maxSubscriptionsPerCaller"
      | "legacy"
    >,
    Pick<
      RuntimeOptions,
      | "namespace"
      | "requestStateLifetime"
      | "maxRequestStateBytes"
      | "replayStallMs"
      | "settleGraceMs"
      | "joinTimeoutMs"
      | "drainTimeoutMs"
      | "maxConcurrentAttempts"
      | "rateLimit"
      | "repeatableHistory"
      | "sweep"
      | "observers"
    >,
    Pick<
      LmdbStoreOptions,
      "leaseMs" | "retentionMs" | "maxWaitingRuns" | "maxBytesPerCaller" | "maxBytes"
    > {
  /** Where the embedded store lives. Default `.reprise` in the working directory. */
  readonly dataDir?: string;
  /** `"none"`: no store; every run is repeatable and code before an ask must be safe to repeat. */
  readonly store?: "none";
  /**
   * Secrets that request states are sealed with: the first seals, all open. Default: a key kept beside the embedded store;
   * without a store a key of this process, whose states no other process opens.
   */
  readonly requestStateKey?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Encrypt every state, so that the client can't read it. Default false. */
  readonly encryptRequestState?: boolean;
  /** Where log lines go: a pino logger, or one that looks like it. Default: nowhere. */
  readonly logger?: ListenOptions["logger"];
  /** Base URL of an OpenTelemetry collector that takes OTLP over HTTP. Default: nothing is traced. */
  readonly otlpEndpoint?: string;
  /**
   * Serves the dashboard under `/ops` of the same address, for whoever opens a link that `print` gets: each is good for one use
   * and for ten minutes, and further ones come when somebody asks for them on the page. Only on a loopback `host`, and not with
   * `store: "none"`, which has nothing to show. Default: no dashboard.
   */
  readonly ops?: { readonly print: (link: string) => void };
}

/** A server that listens. */
export interface ServedServer {
  /** The MCP endpoint. */
  readonly url: string;
  readonly port: number;
  /** Absolute path of the data directory; undefined with `store: "none"`. */
  readonly dataDir: string | undefined;
  readonly runtime: Runtime;
  /** A link that opens the dashboard; the one before it ends. Undefined where there is none. */
  readonly newOpsLink: (() => string) | undefined;
  /** Takes no new calls, lets running ones end, closes the store. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves a definition over MCP.
 * @throws RepriseError DEFINITION_INVALID, CONFIG_INVALID, STORE_UNUSABLE, PORT_IN_USE or NODE_TOO_OLD
 */
export async function serve(
  server: ServerDefinition,
  options: ServeOptions = {},
): Promise<ServedServer> {
  requireNode(process.versions.node);
  const dataDir = options.store === "none" ? undefined : resolve(options.dataDir ?? ".reprise");
  const store = dataDir === undefined ? undefined : await openStore(dataDir, options);
  let runtime: Runtime | undefined;
  let signals: Signals | undefined;
  try {
    const sealer = createStateSealer({
      keys: await keysOf(options, store),
      maxBytes: options.maxRequestStateBytes,
      encrypt: options.encryptRequestState,
    });
    const { logger, otlpEndpoint, ops: opsOptions, ...settings } = options;
    const logging = logger === undefined ? {} : { logger };
    const told = new Signals({ server, otlpEndpoint, logger: logger ?? silentLogger });
    signals = told;
    const started = createRuntime({
      ...settings,
      ...logging,
      server,
      store: store === undefined ? "none" : told.storeMeasured(store),
      observers: [...told.observers, ...(options.observers ?? [])],
      instance: instanceName,
      // Without a store nothing outlives the process, and no other one asks.
      shared: store?.shared,
      history: store?.history,
      sealer,
    });
    runtime = started;
    told.historyShown(started);
    // What is switched off must not be in the first list.
    await started.ready;
    const metricsText = (): Promise<string> => told.text();
    const ops =
      opsOptions === undefined || store === undefined
        ? undefined
        : embeddedOps({
            ...opsOptions,
            server,
            runtime: started,
            store,
            host: options.host,
            logger,
          });
    const front = await listen({
      ...settings,
      ...logging,
      metricsText,
      runtime: started,
      plugins: ops === undefined ? [] : [ops.plugin],
    });
    const newOpsLink = ops?.linksAt(front.url);
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      // Attempts first: a request under way has its answer before its connection is closed.
      const drained = started.close();
      await front.close();
      await drained;
      await told.close();
    };
    return {
      url: front.url,
      port: front.port,
      dataDir,
      runtime: started,
      newOpsLink,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    // The runtime sweeps from its start on, and closes the store that it was given.
    await (runtime ?? store)?.close();
    await signals?.close();
    throw error;
  }
}

function openStore(dataDir: string, options: ServeOptions): Promise<LmdbStore> {
  const { leaseMs, retentionMs, maxWaitingRuns, maxBytesPerCaller, maxBytes } = options;
  const given = { leaseMs, retentionMs, maxWaitingRuns, maxBytesPerCaller, maxBytes };
  const settings = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  return openLmdbStore({ directory: join(dataDir, "store"), ...settings });
}

async function keysOf(options: ServeOptions, store: LmdbStore | undefined): Promise<KeySource> {
  if (options.requestStateKey !== undefined) return keysFromSecrets(options.requestStateKey);
  return store === undefined ? ephemeralKeys() : keysFromSecrets(await store.stateKey());
}
