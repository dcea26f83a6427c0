/**
 * Suite `dialogues`: what dialogues cost that wait for a human: sockets, workers, jobs, memory, bytes in Redis.
 *
 * A front, a worker and a Redis; the dialogues are opened through the pool, their connections are closed, everything is
 * counted, and then each of them is answered, so that what cost nothing is known to have been there.
 */
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { confirmKeyed, confirmOnce, confirmRepeatable } from "./calls.ts";
import { cpuMsOfTree } from "./cpuTime.ts";
import { socketsOf } from "./flowSuite.ts";
import { HttpConnection, openSocket } from "./httpConnection.ts";
import { type HttpSpec, type Operation, operationFor } from "./operations.ts";
import type { ServerProcess } from "./processes.ts";
import { startFront, startPinnedRedis, startPoolWorker } from "./redisSystem.ts";
import { bytesByNoun, bytesInRedis, jobsInQueues } from "./redisUse.ts";
import type { Ratio, SuiteContext, SuiteResult } from "./suite.ts";
import { type System, stopAll } from "./systems.ts";
import { keyArgument, question, workerConcurrency } from "./workload.ts";

const connections = 32;
/** How long the idle processes are watched. */
const idleMs = 2_000;

interface Processes {
  readonly front: ServerProcess;
  readonly worker: ServerProcess;
  readonly redis: Redis;
}

/** What the processes hold at one moment. */
interface Use {
  readonly sockets: number;
  readonly redisClients: number;
  readonly frontHeap: number;
  readonly workerHeap: number;
  readonly frontRss: number;
  readonly workerRss: number;
  readonly redisBytes: number;
}

interface Kind {
  readonly name: string;
  readonly spec: HttpSpec;
  readonly mostRedisBytes: number;
  /** The author's own, beside those. */
  readonly ownBytes: number;
}

/** What the author gave to each run: arguments and question. */
const ownBytes = (key: string): number =>
  JSON.stringify({ [keyArgument]: key }).length + question.length;
/** As long as a fresh key is. */
const freshKey = "k".repeat(42);

const kinds: readonly Kind[] = [
  { name: "repeatable", spec: confirmRepeatable, mostRedisBytes: 0, ownBytes: 0 },
  { name: "once", spec: confirmOnce, mostRedisBytes: 1024, ownBytes: ownBytes("42") },
  { name: "once, keyed", spec: confirmKeyed, mostRedisBytes: 1024, ownBytes: ownBytes(freshKey) },
];

/** Measures the suite. */
export async function waitingSuite({
  code,
  dialogues,
  onProgress,
}: SuiteContext): Promise<SuiteResult> {
  const started: Pick<System, "stop">[] = [];
  const keep = async <S extends Pick<System, "stop">>(starting: Promise<S>): Promise<S> => {
    const system = await starting;
    started.unshift(system);
    return system;
  };
  const ratios: Ratio[] = [];
  const notes: string[] = [];
  try {
    const redis = await keep(startPinnedRedis("everysec"));
    const client = redis.connect();
    started.unshift({ stop: () => Promise.resolve(client.disconnect()) });
    const more = { maxWaitingRuns: 10 * dialogues, maxBytesPerCaller: 2 ** 30 };
    const worker = await keep(startPoolWorker(code, redis, workerConcurrency, more));
    const front = await keep(startFront(code, redis, "pool", more));
    const processes = { front, worker, redis: client };
    for (const kind of kinds) {
      onProgress(`${dialogues} dialogues: ${kind.name}`);
      const found = await wait(kind, processes, dialogues);
      ratios.push(...found.ratios);
      notes.push(...found.notes);
    }
    return {
      suite: "dialogues",
      ratios,
      measured: [],
      limits: limitsOf(dialogues, redis.version),
      notes,
    };
  } finally {
    await stopAll(started);
  }
}

function limitsOf(dialogues: number, redisVersion: string): readonly string[] {
  return [
    `${dialogues} of each kind at once, of one caller, opened over ${connections} connections that are closed before counting`,
    `one front, one worker of ${workerConcurrency}, Redis ${redisVersion} with appendfsync everysec`,
    `bytes in Redis: growth of used_memory without buffers of clients and log, keys and indexes included, less the author's own: arguments and text of the question, ${ownBytes("42")} bytes, keyed ${ownBytes(freshKey)}`,
    "heaps after two full collections; resident memory shrinks late or never, so it is only told",
  ];
}

async function wait(
  { name, spec, mostRedisBytes, ownBytes: own }: Kind,
  processes: Processes,
  dialogues: number,
): Promise<{ readonly ratios: readonly Ratio[]; readonly notes: readonly string[] }> {
  const { front, worker, redis } = processes;
  const url = new URL(front.url);
  // As many once before: until pools and compilers have settled, and what is remembered of a limited number is full.
  await answer(url, await open(url, spec, dialogues));
  await pause(idleMs);
  const keysBefore = await bytesByNoun(redis);
  const before = await useOf(processes);
  const opened = await open(url, spec, dialogues);
  await pause(idleMs);
  const pids = [...front.pids, ...worker.pids];
  const cpuBefore = pids.map(cpuMsOfTree);
  await pause(idleMs);
  const cpuMs = pids.map((pid, index) => cpuMsOfTree(pid) - (cpuBefore[index] ?? Number.NaN));
  const after = await useOf(processes);
  const jobs = await jobsInQueues(redis);
  const keysAfter = await bytesByNoun(redis);
  await answer(url, opened);

  const growth = (of: keyof Use): number => after[of] - before[of];
  const each = (of: keyof Use): number => growth(of) / dialogues;
  const figure = (what: string, value: number, atMost: number): Ratio => ({
    name: `${dialogues} waiting, ${name}: ${what}`,
    value: { median: value, min: value, max: value },
    target: { atMost },
  });
  return {
    ratios: [
      figure("sockets of front and worker more than before", growth("sockets"), 0),
      figure("clients of Redis more than before", growth("redisClients"), 0),
      figure("workers' busy places", jobs.active, 0),
      figure("jobs in queues", jobs.waiting, 0),
      figure("bytes of the front's heap for each", each("frontHeap"), nearNothing),
      figure("bytes of the worker's heap for each", each("workerHeap"), nearNothing),
      figure(
        "bytes in Redis for each beyond the author's",
        each("redisBytes") - own,
        mostRedisBytes + slack(mostRedisBytes),
      ),
    ],
    notes: [
      `  ${name}: resident memory of the front ${mebibytes(growth("frontRss"))}, of the worker ${mebibytes(growth("workerRss"))}; ` +
        `of a core while all wait: front ${share(cpuMs[0])}, worker ${share(cpuMs[1])}; all ${dialogues} were answered`,
      `  ${name}: bytes for each by MEMORY USAGE of keys: ${perNoun(keysBefore, keysAfter, dialogues)}`,
    ],
  };
}

/** Heaps are never equal twice: this many bytes a dialogue count as none, and as many in Redis where 0 is asked. */
const nearNothing = 100;
const slack = (most: number): number => (most === 0 ? 16 : 0);

interface Dialogue {
  readonly operation: Operation;
  readonly retry: string;
}

/** Opens dialogues up to their question. */
async function open(url: URL, spec: HttpSpec, count: number): Promise<readonly Dialogue[]> {
  const unique = randomBytes(16).toString("hex");
  const opened: Dialogue[] = [];
  await overConnections(url, count, async (connection, index) => {
    const id = 1_000_000_000 + 2 * index;
    const operation = operationFor(url, spec, unique);
    const reply = await connection.send(operation.first(id));
    const retry = operation.next(reply, 1, id + 1);
    if (retry === undefined) throw new Error("a dialogue ended without a question");
    opened.push({ operation, retry });
  });
  return opened;
}

/** Answers them; each must end as it should. */
async function answer(url: URL, opened: readonly Dialogue[]): Promise<void> {
  await overConnections(url, opened.length, async (connection, index) => {
    const dialogue = opened[index];
    if (dialogue === undefined) throw new RangeError(`no dialogue ${index}`);
    dialogue.operation.next(await connection.send(dialogue.retry), 2, 0);
  });
}

async function overConnections(
  url: URL,
  count: number,
  work: (connection: HttpConnection, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new HttpConnection(await openSocket(Number(url.port), url.hostname));
      try {
        while (next < count) await work(connection, next++);
      } finally {
        connection.close();
      }
    }),
  );
}

async function useOf({ front, worker, redis }: Processes): Promise<Use> {
  const [ofFront, ofWorker, inRedis] = await Promise.all([
    front.memory(),
    worker.memory(),
    bytesInRedis(redis),
  ]);
  return {
    sockets: [...front.pids, ...worker.pids].reduce((sum, pid) => sum + socketsOf(pid), 0),
    redisClients: inRedis.clients,
    frontHeap: ofFront.heapUsed + ofFront.external,
    workerHeap: ofWorker.heapUsed + ofWorker.external,
    frontRss: ofFront.rss,
    workerRss: ofWorker.rss,
    redisBytes: inRedis.bytes,
  };
}

function perNoun(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  dialogues: number,
): string {
  const grown = [...after]
    .map(([noun, bytes]) => [noun, (bytes - (before.get(noun) ?? 0)) / dialogues] as const)
    .filter(([, bytes]) => Math.abs(bytes) >= 1)
    .map(([noun, bytes]) => `${noun} ${bytes.toFixed(0)}`);
  return grown.length === 0 ? "none grew" : grown.join(", ");
}

function mebibytes(bytes: number): string {
  return `${bytes < 0 ? "" : "+"}${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function share(cpuMs = Number.NaN): string {
  return `${((cpuMs / idleMs) * 100).toFixed(1)} %`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
