/**
 * Reprise on many instances, as plain processes on loopback: Redis, fronts behind nginx without affinity, workers, the
 * operators' dashboard where it is wanted, and the shop's outside world. The same files as the compose file: infra/redis/redis.conf, infra/nginx/proxy.conf, and
 * the images' entries.
 *
 * 1. Every member keeps its address over all its lives, so any of them may be killed and started again.
 * 2. Fronts serve the shop's own page too, each at a port of its own; nginx has all of them at `/shop/`.
 * 3. `stop` ends the members from the outside inwards: nothing loses what it needs while it drains. Idempotent, also
 *    after a failed start.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fromSource } from "../childProcess.ts";
import { root } from "../sourceTree.ts";
import { Member, type MemberEvents, type MemberPlan } from "./member.ts";
import { type NginxPlace, nginxConf } from "./nginxConf.ts";
import { unusedPorts } from "./ports.ts";

/** How node starts a role: its arguments, and whether the program talks to its parent. */
interface RoleProgram {
  readonly args: readonly string[];
  readonly ipc?: boolean;
}

/** What a cluster is made of. */
export interface ClusterOptions extends MemberEvents {
  /** An empty folder, or that of an earlier cluster, whose records and books go on. */
  readonly dataDir: string;
  /** Default 2. */
  readonly fronts?: number;
  /** Default 2; none with `dispatch: "inline"`. */
  readonly workers?: number;
  /** Of nginx. Default 0: a free one. */
  readonly port?: number;
  /** Of the payment service and mail log. Default 0: a free one. */
  readonly shopPort?: number;
  /** Of the operators' dashboard; 0: a free one. Default: there is none. */
  readonly opsPort?: number;
  /** Of Redis. Default 0: a free one. For whoever puts something before it ahead of the start. */
  readonly redisPort?: number;
  /** Default `pool`. */
  readonly dispatch?: "pool" | "inline";
  /** Default `everysec`, as in infra/redis/redis.conf. */
  readonly appendfsync?: "always" | "everysec";
  /** More settings of fronts, workers and the dashboard, such as `REPRISE_LEASE_MS`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Settings of one front or worker, by its name (`worker 1`): laid over all others. */
  settingsOf?(name: string): Readonly<Record<string, string>>;
  /** What fronts run. Default: services/front with the shop. */
  readonly front?: RoleProgram;
  /** What workers run. Default: services/worker with the shop. */
  readonly worker?: RoleProgram;
}

/** A front, and where it serves without nginx. */
interface FrontMember {
  readonly member: Member;
  readonly url: string;
}

/** The dashboard, and how to get in. */
interface OpsMember {
  readonly member: Member;
  /** Ends in `/ops/`. */
  readonly url: string;
  /** The newest one-time link that it has printed; undefined where people sign in at a provider. */
  newestLink(): string | undefined;
}

/** A running cluster. */
export interface Cluster {
  /** The MCP endpoint, behind nginx. */
  readonly url: string;
  /** Origin of payment service, mail log and faults. */
  readonly outside: string;
  readonly smtpPort: number;
  /** For clients of Redis: `redis://127.0.0.1:PORT`. */
  readonly redisUrl: string;
  readonly scratchDir: string;
  readonly redis: Member;
  readonly nginx: Member;
  readonly shop: Member;
  readonly fronts: readonly FrontMember[];
  readonly workers: readonly Member[];
  readonly ops: OpsMember | undefined;
  /** All of them, in the order of their start. */
  readonly members: readonly Member[];
  stop(): Promise<void>;
}

const served = "services/shop/src/served.ts";
const roleProgram = (role: "front" | "worker"): RoleProgram => ({
  args: [...fromSource, `services/${role}/src/main.ts`, served],
});

/** Starts everything and resolves when all of it serves; a failed start leaves nothing running. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { dataDir, dispatch = "pool" } = options;
  const members: Member[] = [];
  const member = (plan: MemberPlan): Member => {
    const made = new Member(plan, options);
    members.push(made);
    return made;
  };
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    // Outside inwards: proxy, fronts, workers; what they need last.
    for (const group of [/^(nginx|ops)/, /^front/, /^worker/, /^shop/, /^redis/]) {
      const ends = members.filter(({ name }) => group.test(name)).map((each) => each.stop());
      for (const end of await Promise.allSettled(ends)) {
        if (end.status === "rejected") failures.push(end.reason);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, "members did not end in order");
  };

  try {
    const { fronts: frontCount = 2 } = options;
    const [anyRedisPort = 0, smtpPort = 0, anyShopPort = 0, anyPort = 0, anyOpsPort = 0, ...ports] =
      await unusedPorts(5 + 2 * frontCount);
    const redisPort = options.redisPort || anyRedisPort;
    const [frontPorts, pagePorts] = [ports.slice(0, frontCount), ports.slice(frontCount)];
    const port = options.port || anyPort;
    const redisUrl = `redis://127.0.0.1:${redisPort}`;
    const scratchDir = path.join(dataDir, "scratch");
    const redis = member(await redisPlan(options, redisPort));
    const shopPort = options.shopPort || anyShopPort;
    const shop = member(shopPlan(dataDir, shopPort, smtpPort, `http://127.0.0.1:${port}/shop/`));
    await Promise.all([redis.start(), shop.start()]);

    const outside = `http://127.0.0.1:${shopPort}`;
    const env = {
      REPRISE_REDIS_URL: redisUrl,
      REPRISE_DISPATCH: dispatch,
      REPRISE_LOG_LEVEL: "warn",
      SHOP_URL: outside,
      SHOP_SMTP_PORT: String(smtpPort),
      SHOP_SCRATCH: scratchDir,
      ...options.settings,
    };
    const fronts = frontPorts.map((each, place) => {
      const own = {
        REPRISE_PORT: String(each),
        SHOP_PAGE_PORT: String(pagePorts[place]),
        SHOP_MCP_URL: `http://127.0.0.1:${port}/mcp`,
      };
      const plan = rolePlan("front", place, options, { ...env, ...own });
      return { member: member(plan), url: `http://127.0.0.1:${each}/mcp` };
    });
    const workerCount = dispatch === "inline" ? 0 : (options.workers ?? 2);
    const workers = Array.from({ length: workerCount }, (_, place) =>
      member(rolePlan("worker", place, options, { ...env, REPRISE_PROBE_PORT: "0" })),
    );
    const ops =
      options.opsPort === undefined
        ? undefined
        : opsMember(options.opsPort || anyOpsPort, (port) => member(opsPlan(port, env)));
    const serving = [...fronts.map((each) => each.member), ...workers];
    await Promise.all(
      [...serving, ...(ops === undefined ? [] : [ops.member])].map((each) => each.start()),
    );

    const nginx = member(await nginxPlan({ dataDir, port, frontPorts, pagePorts }));
    await nginx.start();
    const url = `http://127.0.0.1:${port}/mcp`;
    return {
      ...{ url, outside, smtpPort, redisUrl, scratchDir },
      ...{ redis, nginx, shop, fronts, workers, ops, members, stop },
    };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

async function redisPlan(options: ClusterOptions, port: number): Promise<MemberPlan> {
  const directory = path.join(options.dataDir, "redis");
  await mkdir(directory, { recursive: true });
  const places = ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory];
  const sync = options.appendfsync === undefined ? [] : ["--appendfsync", options.appendfsync];
  return {
    name: "redis",
    command: "redis-server",
    args: [path.join(root, "infra/redis/redis.conf"), ...places, ...sync],
    ready: /Ready to accept connections/,
  };
}

function shopPlan(dataDir: string, port: number, smtpPort: number, pageUrl: string): MemberPlan {
  const ports = ["--port", String(port), "--smtp-port", String(smtpPort)];
  const places = [...ports, "--merchant-url", pageUrl];
  const data = ["--data", path.join(dataDir, "shop")];
  return {
    name: "shop",
    command: process.execPath,
    args: [...fromSource, "services/shop/src/outside.ts", ...places, ...data],
    ready: /"url":"([^"]+)"/,
  };
}

function rolePlan(
  role: "front" | "worker",
  place: number,
  options: ClusterOptions,
  shared: Readonly<Record<string, string>>,
): MemberPlan {
  const { args, ipc = false } = options[role] ?? roleProgram(role);
  const name = `${role} ${place + 1}`;
  const env = { ...shared, ...options.settingsOf?.(name) };
  return { name, command: process.execPath, args, env, ipc, ready: readyLines[role] };
}

function opsPlan(port: number, env: Readonly<Record<string, string>>): MemberPlan {
  return {
    name: "ops",
    command: process.execPath,
    args: [...fromSource, "services/ops/src/main.ts", served],
    env: { ...env, REPRISE_OPS_PORT: String(port) },
    ready: /^ {2}dashboard +(\S+)/,
  };
}

function opsMember(port: number, start: (port: number) => Member): OpsMember {
  const member = start(port);
  return {
    member,
    url: `http://127.0.0.1:${port}/ops/`,
    newestLink: () => linkIn(member.printed()),
  };
}

/** The newest one-time link in what the dashboard has printed. */
function linkIn(printed: string): string | undefined {
  return [...printed.matchAll(/^ {2}opens once +(\S+)$/gm)].at(-1)?.[1];
}

/** What the images' entries print when they serve. */
const readyLines = { front: /^ {2}MCP +(\S+)/, worker: /^ {2}queues +(\S.*)/ };

async function nginxPlan({
  dataDir,
  ...place
}: { readonly dataDir: string } & Omit<NginxPlace, "directory">): Promise<MemberPlan> {
  const directory = path.join(dataDir, "nginx");
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, "nginx.conf");
  await writeFile(file, nginxConf({ directory, ...place }));
  return {
    name: "nginx",
    command: "nginx",
    args: ["-p", directory, "-c", file],
    ready: /getrlimit\(RLIMIT_NOFILE\)/,
  };
}
