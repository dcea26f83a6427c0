import { createRuntime, type RunStore, type RuntimeOptions } from "@reprise/runtime";
import {
  createMetrics,
  measuredStore,
  metricsObserver,
  metricsText,
  storeGauges,
} from "@reprise/telemetry";

/** A runtime whose figures can be asked for. */
export function startMeasured(options: RuntimeOptions & { readonly store: RunStore }) {
  const metrics = createMetrics();
  const { store } = options;
  const runtime = createRuntime({
    ...options,
    store: measuredStore(store, metrics),
    observers: [metricsObserver(metrics)],
  });
  const looks = [storeGauges(metrics, () => store.health())];
  return { runtime, text: () => metricsText(metrics, looks) };
}
