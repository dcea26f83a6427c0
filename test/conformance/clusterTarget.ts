/**
 * The server under test on many instances: fronts behind nginx, round robin, and two workers over one Redis.
 *
 * Used by runCluster.ts. It hears what nginx says of the fronts and notes every death that nobody asked for.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleRoles } from "../support/cluster/bundledRoles.ts";
import { type Cluster, startCluster } from "../support/cluster/cluster.ts";

/** A request that nginx had sent to a front and that got no whole answer; nginx never sends one twice. */
export interface Cut {
  readonly front: string;
  /** By nginx's clock, in ms since the epoch, rounded down to the second. */
  readonly atMs: number;
  /** nginx's words. */
  readonly line: string;
}

/** A running cluster. */
export interface ClusterTarget {
  readonly cluster: Cluster;
  /** In the order in which nginx told them; grows. */
  readonly cuts: readonly Cut[];
  /** Members that ended by themselves; grows. */
  readonly deaths: readonly string[];
  stop(): Promise<void>;
}

/** A dead worker's call is made again this long, and 5 s, after its last sign of life. */
const leaseMs = 2000;

/** What a client that polls is to see within the suite's patience. */
const pollAfterMs = 1000;

/** What nginx says when it has not sent a request: it goes to the next front. */
const neverSent = "while connecting to upstream";

/** Starts it; a failed start leaves nothing behind. */
export async function startClusterTarget(fronts: number): Promise<ClusterTarget> {
  const dataDir = await mkdtemp(join(tmpdir(), "reprise-conformance-cluster-"));
  const roles = await bundleRoles("test/conformance/role/main.ts");
  const removeFiles = async (): Promise<void> => {
    roles.remove();
    await rm(dataDir, { recursive: true, force: true });
  };
  const cuts: { readonly origin: string; readonly atMs: number; readonly line: string }[] = [];
  const deaths: string[] = [];
  try {
    const cluster = await startCluster({
      dataDir,
      fronts,
      workers: 2,
      front: roles.front,
      worker: roles.worker,
      settings: { REPRISE_LEASE_MS: String(leaseMs), REPRISE_POLL_AFTER_MS: String(pollAfterMs) },
      onDeath: (member, how) => deaths.push(`${member.name} (${how})\n${member.printed()}`),
      onLine(member, line) {
        const origin = / upstream: "(http:\/\/[^/"]+)/.exec(line)?.[1];
        if (member.name !== "nginx" || origin === undefined || line.includes(neverSent)) return;
        cuts.push({ origin, atMs: timeOf(line), line });
      },
    });
    const nameOf = new Map(
      cluster.fronts.map(({ url, member }) => [new URL(url).origin, member.name]),
    );
    return {
      cluster,
      get cuts() {
        return cuts.map(({ origin, ...cut }) => ({ front: nameOf.get(origin) ?? origin, ...cut }));
      },
      deaths,
      async stop() {
        try {
          await cluster.stop();
        } finally {
          await removeFiles();
        }
      },
    };
  } catch (error) {
    await removeFiles();
    throw error;
  }
}

/** nginx begins a line with `2026/07/28 12:00:00`, local time. */
function timeOf(line: string): number {
  const [year = 0, month = 0, ...rest] = line.slice(0, 19).split(/\D/).map(Number);
  const [day = 0, hour = 0, minute = 0, second = 0] = rest;
  return new Date(year, month - 1, day, hour, minute, second).getTime();
}
