/**
 * The first page: one look at everything, at a cost that does not grow with the number of runs.
 *
 * Parts that can't be had leave the rest standing: an overview is looked at most when something is away. Only when history
 * itself is away is there none.
 */
import type { RunSummary } from "@reprise/runtime";
import type { OpsConfig } from "../options.ts";
import type { Overview, RecentRuns } from "../wire.ts";

/** Runs that `recent` looks at. */
const LOOKED_AT = 100;

const ended = new Set<string>(["completed", "failed", "cancelled", "undone"]);

/** Reads it. @throws RepriseError STORE_UNAVAILABLE */
export async function readOverview(config: OpsConfig): Promise<Overview> {
  const { history, clock, health, queues, keys, logger } = config;
  const optional = async <T>(
    part: string,
    read: (() => Promise<T>) | undefined,
  ): Promise<T | undefined> => {
    try {
      return await read?.();
    } catch (error) {
      logger.warn({ err: error, part }, "a part of the overview can't be read");
      return undefined;
    }
  };
  const [counts, newest, instances, held, standing, ring] = await Promise.all([
    history.counts(),
    history.list({ limit: LOOKED_AT }),
    history.instances(),
    optional("health", health),
    optional("queues", queues === undefined ? undefined : () => queues.standing()),
    optional("keys", keys === undefined ? undefined : () => keys.list()),
  ]);
  const sealing = ring?.filter(({ status }) => status === "sealing");
  return {
    at: clock.now(),
    health:
      held === undefined
        ? { ok: false, reason: "the store does not answer" }
        : { ok: held.ok, ...(held.reason === undefined ? {} : { reason: held.reason }) },
    counts,
    recent: recentOf(newest.runs, clock.now()),
    instances,
    room: held?.room,
    queues: standing,
    keys:
      sealing === undefined
        ? undefined
        : {
            sealing: sealing.length,
            oldestSealingAt: sealing
              .flatMap(({ createdAtMs }) => createdAtMs ?? [])
              .reduce<number | undefined>((least, at) => Math.min(least ?? at, at), undefined),
          },
  };
}

/** Sums up the newest changes, newest first. Of a quiet server they reach far back, so the rate is of the last hour at most. */
function recentOf(runs: readonly RunSummary[], now: number): RecentRuns {
  const hour = 60 * 60 * 1000;
  const recent = runs.filter(({ updatedAt }) => now - updatedAt < hour);
  const oldest = recent.at(-1)?.updatedAt ?? now;
  // A list that was cut tells only of the time that it covers.
  const spanMs = recent.length < LOOKED_AT ? hour : Math.max(1000, now - oldest);
  const over = recent.filter(({ status }) => ended.has(status));
  const failed = over.filter(({ status }) => status === "failed");
  const codes = new Map<string, number>();
  for (const { code } of recent) {
    if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  return {
    looked: recent.length,
    spanMs,
    endedPerMinute: over.length / (spanMs / 60_000),
    failedShare: over.length === 0 ? undefined : failed.length / over.length,
    codes: [...codes]
      .map(([code, count]) => ({ code, count }))
      .toSorted((a, b) => b.count - a.count),
  };
}
