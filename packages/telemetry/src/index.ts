/**
 * Signals for operators: Prometheus metrics and OpenTelemetry traces of runs, as observers of a runtime.
 */
export type { AbandonmentOptions } from "./abandonments.ts";
export { clientLabel } from "./clientNames.ts";
export type { HistoryFigures, Look, QueueFigures } from "./gauges.ts";
export { historyGauges, keyGauge, queueGauges, storeGauges } from "./gauges.ts";
export { measuredStore } from "./measuredStore.ts";
export type { MetricsObserver, MetricsObserverOptions } from "./metricsObserver.ts";
export { metricsObserver } from "./metricsObserver.ts";
export type { Traces, TracesOptions } from "./otlpTraces.ts";
export { openTraces } from "./otlpTraces.ts";
export type { Metrics } from "./registry.ts";
export { createMetrics, metricsText } from "./registry.ts";
