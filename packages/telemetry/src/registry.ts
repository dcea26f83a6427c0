/**
 * The registry of one process: what all its metrics are made in and rendered from. The only home of prom-client's registry.
 *
 * Names begin with `reprise_` and end with their unit. Labels are bounded: handler names of the served definition, words of ours.
 */
import { Registry } from "prom-client";

/** All metrics of one process. */
export type Metrics = Registry;

/** An empty registry. */
export function createMetrics(): Metrics {
  return new Registry();
}

/**
 * The text of `/metrics`, in the Prometheus format 0.0.4. A source that fails leaves its own gauges as they were, so that a store
 * that is away does not take all other figures with it; `failed` hears why.
 */
export async function metricsText(
  metrics: Metrics,
  sources: readonly (() => Promise<void> | void)[] = [],
  failed: (error: unknown) => void = () => undefined,
): Promise<string> {
  await Promise.all(
    sources.map(async (look) => {
      try {
        await look();
      } catch (error) {
        failed(error);
      }
    }),
  );
  return metrics.metrics();
}
