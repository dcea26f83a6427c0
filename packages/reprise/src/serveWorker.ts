/**
 * `serveWorker`: a process that executes what fronts queue. A composition root like serveFront.ts.
 */
import { type PoolWorker, queueWaits, startWorker, type WorkerQueueOptions } from "@reprise/pool";
import {
  createRuntime,
  type Logger,
  type Runtime,
  type ServerDefinition,
  silentLogger,
} from "@reprise/runtime";
import { requireNode } from "./nodeVersion.ts";
import { type Probes, serveProbes } from "./probes.ts";
import { poolOptions, roleSignals, runtimeOptions } from "./roleRuntime.ts";
import type { Settings } from "./settings.ts";
import { openShared } from "./shared.ts";
import type { Signals } from "./signals.ts";

/** What a worker is given besides its settings. */
export interface WorkerExtras {
  /** Where log lines go. Default: nowhere. */
  readonly logger?: Logger;
}

/** A worker that takes jobs. */
export interface ServedWorker {
  /** Origin of `/healthz`, `/readyz` and `/metrics`. */
  readonly probesUrl: string;
  /** The queues that it serves. */
  readonly queues: readonly string[];
  readonly runtime: Runtime;
  /** Takes no new attempts, lets running ones end or hands them over, closes what it opened. Idempotent. */
  close(): Promise<void>;
}

/**
 * Executes the handlers of a definition, which must be the one that the fronts serve.
 * @throws RepriseError DEFINITION_INVALID, CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE, PORT_IN_USE or NODE_TOO_OLD
 */
export async function serveWorker(
  server: ServerDefinition,
  settings: Settings,
  { logger = silentLogger }: WorkerExtras = {},
): Promise<ServedWorker> {
  requireNode(process.versions.node);
  const shared = await openShared(settings, logger);
  let signals: Signals | undefined;
  let runtime: Runtime | undefined;
  let worker: PoolWorker | undefined;
  let probes: Probes | undefined;
  const close = async (): Promise<void> => {
    // The worker closes the runtime between its last job and its last word; the probes answer until the end.
    await worker?.close();
    await (runtime ?? shared.store).close();
    await probes?.close();
    await signals?.close();
    await shared.close();
  };
  try {
    const told = roleSignals(server, settings, shared, logger);
    signals = told;
    const { concurrency, probeHost: host, probePort: port } = settings;
    const started = createRuntime({
      ...runtimeOptions(server, settings, shared, told, logger),
      role: "worker",
      // Callers were counted at the front.
      rateLimit: "none",
    });
    runtime = started;
    told.historyShown(started);
    told.queuesShown(
      async () => queueWaits(shared.connection, settings.namespace, worker?.queues ?? []),
      () => worker?.running ?? 0,
    );
    const metrics = (): Promise<string> => told.text();
    const readiness = (): ReturnType<Runtime["health"]> => started.health();
    probes = await serveProbes({ host, port }, { readiness, metrics }, logger);
    const taking = await startWorker({
      ...poolOptions(settings, shared, logger),
      runtime: started,
      concurrency,
      queueOptions: queueOptions(settings),
      ...(settings.queues.length === 0 ? {} : { queues: settings.queues }),
    });
    worker = taking;
    let closing: Promise<void> | undefined;
    return {
      probesUrl: probes.url,
      queues: taking.queues,
      runtime: started,
      close() {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the settings say of single queues. */
function queueOptions({
  queueConcurrency,
  queueRateLimit,
}: Settings): Readonly<Record<string, WorkerQueueOptions>> {
  const names = new Set([...Object.keys(queueConcurrency), ...Object.keys(queueRateLimit)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const concurrency = queueConcurrency[name];
      const max = queueRateLimit[name];
      return [
        name,
        {
          ...(concurrency === undefined ? {} : { concurrency }),
          ...(max === undefined ? {} : { rateLimit: { max, perMs: 60_000 } }),
        },
      ];
    }),
  );
}
