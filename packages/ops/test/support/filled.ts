/**
 * A dashboard of a deployment at work: runs in every state, queues, keys, workers. By the machine's clock, as pages count in it.
 */

import type { KeyStanding } from "@reprise/ops";
import type { HistoryStore, InstanceInfo, RunEvent } from "@reprise/runtime";
import { systemClock } from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import { type Dashboard, openDashboard } from "./dashboard.ts";
import { endedEvents, recordOf, waitingEvents } from "./runs.ts";

/** What tests of pages do besides. */
export interface FilledDashboard extends Dashboard {
  /** Events of one more run that waits. */
  waiting(runId: string): readonly RunEvent[];
  /** Every read of history rejects with it from now on; undefined ends that. */
  fail(error: Error | undefined): void;
}

const minute = 60_000;

/** Opens one. */
export async function filledDashboard(): Promise<FilledDashboard> {
  const now = Date.now();
  const queueSaid: string[] = [];
  const isPaused = new Set<string>();
  const revoked = new Set<string>();
  let failure: Error | undefined;
  const alive = instancesAt(now);
  // A slow machine must not take longer than they are remembered.
  const kept = { ...createMemoryHistory(), instances: async () => alive };
  const history = failing(kept, () => failure);
  const dashboard = await openDashboard({
    history,
    clock: systemClock,
    pollMs: 100,
    health: async () => ({ ok: true, room: { usedBytes: 734_003_200, limitBytes: 1_073_741_824 } }),
    queues: {
      queues: ["default", "mail"],
      standing: async () => [
        {
          queue: "default",
          waiting: 0,
          active: 3,
          oldestMs: 0,
          capacity: 16,
          paused: false,
          limit: undefined,
        },
        {
          queue: "mail",
          waiting: 1240,
          active: 4,
          oldestMs: 83_000,
          capacity: 16,
          paused: isPaused.has("mail"),
          limit: 4,
        },
      ],
      pause: async (queue) => {
        isPaused.add(queue);
        queueSaid.push(`pause ${queue}`);
      },
      resume: async () => undefined,
      resize: async () => undefined,
      raw: () => [],
    },
    keys: {
      list: async () =>
        ringOf(now).map((key) =>
          revoked.has(key.kid) ? { ...key, status: "revoked" as const } : key,
        ),
      rotate: async () => 0,
      revoke: async (kid) => {
        revoked.add(kid);
        queueSaid.push(`revoke ${kid}`);
        return { known: true };
      },
    },
    workers: { drain: async () => undefined },
  });
  const order = { handler: { kind: "tool", name: "refund_order" }, client: "order-desk" } as const;
  const mail = {
    handler: { kind: "tool", name: "send_invoice" },
    client: "order-desk",
    principal: "bob",
  } as const;
  const waiting = (runId: string): readonly RunEvent[] => waitingEvents(runId, Date.now(), order);
  for (let at = 0; at < 3; at += 1) {
    const runId = `r-waiting-${at}`;
    dashboard.records.set(runId, recordOf(runId));
    await history.record(waitingEvents(runId, now - (at + 1) * 7 * minute, order));
  }
  dashboard.records.set("r-parked", recordOf("r-parked", "parked"));
  await history.record(endedEvents("r-parked", now - 90 * minute, "parked", mail));
  await history.record(endedEvents("r-interrupted", now - 45 * minute, "interrupted", mail));
  await history.record(endedEvents("r-failed", now - 20 * minute, "failed", order));
  for (let at = 0; at < 8; at += 1) {
    await history.record(
      endedEvents(`b64id_${"x".repeat(30)}-${at}`, now - at * minute - 1000, "completed", order),
    );
  }
  await history.audit({
    at: now - 5 * minute,
    actor: "mia@example.com (u-77)",
    action: "reveal",
    target: "r-parked",
    outcome: "all values",
  });
  await history.audit({
    at: now - 4 * minute,
    actor: "mia@example.com (u-77)",
    action: "revoke_key",
    target: "k-0",
    outcome: "revoked",
  });
  return {
    ...dashboard,
    get told() {
      return [...dashboard.told, ...queueSaid];
    },
    waiting,
    fail(error) {
      failure = error;
    },
  };
}

function ringOf(now: number): readonly KeyStanding[] {
  return [
    {
      kid: "k-2",
      status: "sealing",
      owner: "node-a:4012",
      createdAtMs: now - 200 * minute,
      opensUntilMs: now + 2600 * minute,
      wrapped: true,
    },
    {
      kid: "k-1",
      status: "opening",
      owner: "node-a:3990",
      createdAtMs: now - 1700 * minute,
      opensUntilMs: now + 1200 * minute,
      wrapped: false,
    },
    { kid: "k-0", status: "revoked", revokedAtMs: now - 4 * minute },
  ];
}

function instancesAt(now: number): readonly InstanceInfo[] {
  const lately = { spanMs: 5 * minute, ended: 21_300, failed: 12, dropped: 0 };
  const each = {
    ...{ version: "0.1.0", host: "node-a", startedAt: now - 300 * minute, seenAt: now },
    lately,
  };
  return [
    { ...each, instance: "worker-1", role: "worker", pid: 4012, running: 3, draining: false },
    { ...each, instance: "worker-2", role: "worker", pid: 4013, running: 1, draining: true },
    { ...each, instance: "front-1", role: "front", pid: 3990, running: 0, draining: false },
  ];
}

/** The history, whose reads fail while there is an error. */
function failing(history: HistoryStore, failure: () => Error | undefined): HistoryStore {
  return new Proxy(history, {
    get(target, name: keyof HistoryStore) {
      const method = target[name] as (...given: unknown[]) => Promise<unknown>;
      return async (...given: unknown[]) => {
        const error = failure();
        if (error !== undefined) throw error;
        return await method.apply(target, given);
      };
    },
  });
}
