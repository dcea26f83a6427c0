/**
 * The first page: one look at everything, at a cost that does not grow with the number of runs.
 *
 * Parts that can't be had leave the rest standing: an overview is looked at most when something is away. Only when history
 * itself is away is there none.
 */
import type { EndedLately, InstanceInfo, RunSummary } from "@reprise/runtime";
import type { OpsConfig } from "../options.ts";
import type { Lately, Overview, RecentErrors } from "../wire.ts";

/** Runs that `recent` looks at. */
const LOOKED_AT = 100;
const HOUR_MS = 60 * 60 * 1000;

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
    lately: latelyOf(instances),
    recent: recentErrors(newest.runs, clock.now()),
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

/** Adds up what processes say of themselves: each counts what it ended, and each since its own start. */
function latelyOf(instances: readonly InstanceInfo[]): Lately | undefined {
  const said = instances.flatMap(({ lately }) => lately ?? []);
  if (said.length === 0) return undefined;
  const sum = (of: (one: EndedLately) => number): number =>
    said.reduce((total, one) => total + of(one), 0);
  return {
    spanMs: Math.max(...said.map(({ spanMs }) => spanMs)),
    endedPerMinute: sum(({ ended, spanMs }) => ended / (spanMs / 60_000)),
    ended: sum(({ ended }) => ended),
    failed: sum(({ failed }) => failed),
    dropped: sum(({ dropped }) => dropped),
  };
}

/** Which errors the newest changes of the last hour show. Failed runs are the last that history drops. */
function recentErrors(runs: readonly RunSummary[], now: number): RecentErrors {
  const recent = runs.filter(({ updatedAt }) => now - updatedAt < HOUR_MS);
  const codes = new Map<string, number>();
  for (const { code } of recent) {
    if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  return {
    looked: recent.length,
    codes: [...codes]
      .map(([code, count]) => ({ code, count }))
      .toSorted((a, b) => b.count - a.count),
  };
}
