/**
 * `npm run cluster`: many instances on this machine, on loopback, until a signal comes.
 *
 * When a member dies this says so and goes on without it, as a cluster does: what is left must serve.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { portFromEnvironment } from "../config.ts";
import { type Cluster, type ClusterOptions, startCluster } from "./cluster.ts";

const usage = `npm run cluster -- [options]
  --fronts N        2
  --workers N       2
  --dispatch KIND   pool; inline: handlers run in the fronts, without workers
  --appendfsync W   everysec; always: Redis flushes every write to the disk
  --data DIR        a new temporary folder, removed at the end
  --verbose         print the members' lines
PORT (3000) is nginx, SHOP_PORT (3001) the payment service and mail log, OPS_PORT (3004) the operators' dashboard.
REPRISE_* settings reach fronts, workers and the dashboard.
`;

try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const flags = readFlags();
  if (flags.help) {
    process.stdout.write(usage);
    return;
  }
  const temporary = flags.data === undefined;
  const dataDir = path.resolve(
    flags.data ?? (await mkdtemp(path.join(tmpdir(), "reprise-cluster-"))),
  );
  const stopped = nextSignal();
  let isOpen = false;
  try {
    const told = events(flags.verbose, () => isOpen);
    const starting = startCluster({ ...flags.options, dataDir, ...told });
    const early = await Promise.race([starting, stopped]);
    const cluster = await starting;
    try {
      if (early === cluster) {
        process.stdout.write(welcome(cluster, dataDir));
        isOpen = true;
        await stopped;
      }
    } finally {
      await cluster.stop();
    }
  } finally {
    if (temporary) await rm(dataDir, { recursive: true, force: true });
  }
}

interface Flags {
  readonly help: boolean;
  readonly verbose: boolean;
  readonly data: string | undefined;
  readonly options: Omit<ClusterOptions, "dataDir">;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      fronts: { type: "string", default: "2" },
      workers: { type: "string", default: "2" },
      dispatch: { type: "string", default: "pool" },
      appendfsync: { type: "string", default: "everysec" },
      data: { type: "string" },
      verbose: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  return {
    help: values.help,
    verbose: values.verbose,
    data: values.data,
    options: {
      fronts: count("--fronts", values.fronts),
      workers: count("--workers", values.workers),
      dispatch: oneOf("--dispatch", values.dispatch, ["pool", "inline"]),
      appendfsync: oneOf("--appendfsync", values.appendfsync, ["everysec", "always"]),
      port: portFromEnvironment("PORT", 3000),
      shopPort: portFromEnvironment("SHOP_PORT", 3001),
      opsPort: portFromEnvironment("OPS_PORT", 3004),
    },
  };
}

function count(flag: string, text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new RangeError(`${flag} must be 1 to 99, not ${text}`);
  return Number(text);
}

function oneOf<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word === undefined)
    throw new RangeError(`${flag} must be ${words.join(" or ")}, not ${text}`);
  return word;
}

function events(
  verbose: boolean,
  isOpen: () => boolean,
): Pick<ClusterOptions, "onDeath" | "onLine"> {
  return {
    onDeath(member, how) {
      process.stderr.write(`${member.name} ended (${how})\n${verbose ? "" : member.printed()}\n`);
    },
    onLine(member, line) {
      if (verbose) process.stderr.write(`${member.name}: ${line}\n`);
      // Links that somebody asks for on the page, which says that they are here. The first one is in the welcome.
      else if (isOpen() && /^ {2}opens once/.test(line)) process.stdout.write(`${line}\n`);
    },
  };
}

function nextSignal(): Promise<"signal"> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => resolve("signal"));
    }
  });
}

function welcome(cluster: Cluster, dataDir: string): string {
  const { url, outside, smtpPort, redisUrl, fronts, workers, ops } = cluster;
  const each = fronts.map(
    (front) => `\n    ${front.member.name}   ${front.url}  ${front.member.pid}`,
  );
  const pool =
    workers.length === 0
      ? "none: handlers run in the fronts"
      : workers.map(({ name, pid }) => `\n    ${name}  ${pid}`).join("");
  return `
The cluster is open.
  MCP       ${url}  (nginx, round robin)
  fronts    address and process${each.join("")}
  workers   ${pool}
  operators ${ops?.url ?? "none"}  ${ops?.member.pid ?? ""}
  payments  ${outside}  GET /orders /invoices /charges /refunds /bookings /payments, POST /faults
  mail log  ${outside}/mails  (SMTP on port ${smtpPort})
  redis     ${redisUrl}
  data      ${dataDir}
Try it in the browser, and watch the messages:
  ${new URL("/shop/host/", url).href}
See what operators see (a link opens once, within ten minutes):
  ${ops?.newestLink() ?? ops?.url ?? "no dashboard"}
or from another terminal:
  npx reprise call ${url} refund_order '{"orderId":"1001"}'

`;
}
