/**
 * The signals of one process: what `/metrics` says besides the front's own counts, and traces where a collector is named.
 *
 * Opened by the composition roots, which hand its observers to the runtime. Nothing here is waited for by a run.
 */
import { hostname } from "node:os";
import type { KeyRing } from "@reprise/request-state";
import {
  type Clock,
  type Logger,
  type RunObserver,
  type RunStore,
  systemClock,
} from "@reprise/runtime";
import {
  createMetrics,
  type HistoryFigures,
  historyGauges,
  keyGauge,
  type Look,
  measuredStore,
  metricsObserver,
  metricsText,
  openTraces,
  type QueueFigures,
  queueGauges,
  storeGauges,
} from "@reprise/telemetry";

/** What signals are opened with. */
export interface SignalOptions {
  readonly server: { readonly name: string; readonly version?: string };
  /** Base URL of an OpenTelemetry collector. Default: nothing is traced. */
  readonly otlpEndpoint?: string | undefined;
  readonly logger: Logger;
  /** What deadlines and keys are dated by: the store's where several processes share one. Default: the machine's. */
  readonly clock?: Clock;
}

/** What this process is called in events, traces and lists of instances. */
export const instanceName: string = `${hostname()}:${process.pid}`;

/** Signals of a process. */
export class Signals {
  readonly #metrics = createMetrics();
  readonly #looks: Look[] = [];
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #closers: (() => Promise<void> | void)[] = [];
  readonly #traces: RunObserver | undefined;
  #observers: readonly RunObserver[] | undefined;
  #store: RunStore | undefined;

  /** @throws RepriseError CONFIG_INVALID for an endpoint that is no http URL */
  constructor({ server, otlpEndpoint, logger, clock = systemClock }: SignalOptions) {
    this.#logger = logger;
    this.#clock = clock;
    if (otlpEndpoint === undefined) return;
    const traces = openTraces({
      endpoint: otlpEndpoint,
      serviceName: server.name,
      serviceVersion: server.version ?? "0.0.0",
      instance: instanceName,
      logger,
    });
    this.#traces = traces.observer;
    this.#closers.push(() => traces.close());
  }

  /** For the runtime. */
  get observers(): readonly RunObserver[] {
    this.#observers ??= this.#makeObservers();
    return this.#observers;
  }

  /** The same store, with its calls timed and its room shown. Called before `observers` is read. */
  storeMeasured<S extends RunStore>(store: S): S {
    this.#store = store;
    this.#looks.push(storeGauges(this.#metrics, () => store.health()));
    return measuredStore(store, this.#metrics);
  }

  /** Shows the age of the key that this process seals with. */
  keysShown(ring: Pick<KeyRing, "list">): void {
    const sealing = (): number | undefined =>
      ring.list().find(({ status, owner }) => status === "sealing" && owner === instanceName)
        ?.createdAtMs;
    this.#looks.push(keyGauge(this.#metrics, sealing, () => this.#clock.now()));
  }

  /** Shows what waits for workers, and what this one does. */
  queuesShown(waits: () => Promise<readonly QueueFigures[]>, running: () => number): void {
    this.#looks.push(queueGauges(this.#metrics, waits, running));
  }

  /** Shows how many runs wait for somebody, and what history lacks. */
  historyShown(runtime: HistoryFigures): void {
    this.#looks.push(historyGauges(this.#metrics, runtime));
  }

  /** All of it in the Prometheus text format; what can't be looked up now is left out. */
  text(): Promise<string> {
    return metricsText(this.#metrics, this.#looks, (error) =>
      this.#logger.warn({ err: error }, "a part of the metrics can't be measured now"),
    );
  }

  /** Sends the last spans, for two seconds at most. Idempotent. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }

  #makeObservers(): readonly RunObserver[] {
    const store = this.#store;
    const load = store && ((runId: string) => store.load(runId));
    const counting = metricsObserver(
      this.#metrics,
      load === undefined ? {} : { abandonments: { clock: this.#clock, load } },
    );
    this.#closers.push(() => counting.close());
    return this.#traces === undefined ? [counting] : [counting, this.#traces];
  }
}
