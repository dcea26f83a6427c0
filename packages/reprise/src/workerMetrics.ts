/**
 * What a worker tells in the Prometheus text format: how long calls wait for workers, and what this one does.
 *
 * Every worker tells the same of a queue, as all look at one Redis: take the maximum of them, not the sum.
 */
import type { PoolWorker, QueueWait } from "@reprise/pool";

/** The text of `/metrics`. */
export function workerMetrics(
  { running }: Pick<PoolWorker, "running">,
  waits: readonly QueueWait[],
): string {
  const each = (name: string, sample: (wait: QueueWait) => number): readonly string[] =>
    waits.map((wait) => `${name}{queue="${wait.queue}"} ${sample(wait)}`);
  return [
    "# HELP reprise_queue_oldest_wait_seconds How long the oldest job that a worker could take has waited.",
    "# TYPE reprise_queue_oldest_wait_seconds gauge",
    ...each("reprise_queue_oldest_wait_seconds", ({ oldestMs }) => oldestMs / 1000),
    "# HELP reprise_queue_waiting Jobs that a worker could take.",
    "# TYPE reprise_queue_waiting gauge",
    ...each("reprise_queue_waiting", ({ waiting }) => waiting),
    "# HELP reprise_worker_running Jobs that this worker executes.",
    "# TYPE reprise_worker_running gauge",
    `reprise_worker_running ${running}`,
    "",
  ].join("\n");
}
