/**
 * A store in a process of its own, driven by messages: what the tests kill and stop.
 *
 * Started by `remoteStore.ts`. Arguments: the store's options as JSON. Each message `{id, method, args}` is one call; the
 * answer is `{id, value}` or `{id, error}`. `flood` appends steps until the process is killed and reports each one
 * after its reply.
 */
import type { AttemptRef, LogLimits, SharedKey } from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

interface ChildOptions {
  readonly directory: string;
  readonly leaseMs?: number;
  readonly freeBytes?: number;
}

const { freeBytes, ...options } = JSON.parse(process.argv[2] ?? "{}") as ChildOptions;
const store = await openLmdbStore({
  ...options,
  ...(freeBytes === undefined
    ? {}
    : {
        fileSystem: {
          checkAccess: () => {},
          kindOf: () => ({ magic: 0, mountType: undefined }),
          freeBytes: () => freeBytes,
        },
      }),
});

function send(message: unknown): void {
  process.send?.(message);
}

async function flood(ref: AttemptRef): Promise<never> {
  for (let sequence = 2; ; sequence += 1) {
    const entry = { kind: "step_completed", name: `s${sequence}`, value: "1", at: 1 } as const;
    const reply = await store.append(ref, {
      sequence,
      entries: [entry],
      marks: {},
      stepStarts: true,
      settled: {},
    });
    send({ flooded: sequence, tag: reply.tag });
  }
}

/** Listens, and says what it heard so far whenever it is asked. */
const heard: string[] = [];
async function listen(channel: string): Promise<void> {
  await store.shared.listen(channel, (notice) => heard.push(notice));
}

/** Adds 1 to a record so many times, against whoever does the same. */
async function countUp(key: SharedKey, times: number, expiresAt: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const record = await store.shared.get(key);
    const next = Number(record?.value ?? 0) + 1;
    const revision = await store.shared.put(key, next, record?.revision, expiresAt);
    if (revision !== undefined) done += 1;
  }
}

/** Appends numbers to a log until the process is killed, and reports each one that was acknowledged. */
async function floodLog(log: SharedKey, limits: LogLimits): Promise<never> {
  for (;;) {
    const last = await store.shared.append(log, ["x"], limits);
    send({ flooded: last });
  }
}

const methods: Readonly<Record<string, (...args: never[]) => Promise<unknown>>> = {
  cancel: store.cancel,
  createRun: store.createRun,
  claimRound: store.claimRound,
  claimKnown: store.claimKnown,
  append: store.append,
  endRound: store.endRound,
  renew: store.renew,
  leave: store.leave,
  load: store.load,
  flood,
  get: store.shared.get,
  put: store.shared.put,
  remove: store.shared.remove,
  publish: store.shared.publish,
  listen,
  heard: async () => heard,
  countUp,
  floodLog,
  stateKey: async () => Buffer.from(await store.stateKey()).toString("hex"),
  watch: (runId: string, epoch: number) =>
    store.watch(runId, epoch, 60_000, new AbortController().signal),
};

process.on("message", (call: Call) => {
  const method = methods[call.method];
  if (method === undefined) throw new Error(`no method ${call.method}`);
  method(...(call.args as never[])).then(
    (value) => send({ id: call.id, value }),
    (error: unknown) => send({ id: call.id, error: codeOf(error) }),
  );
});
process.on("disconnect", () => process.exit());
send({ ready: true });

function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : error;
  return String(code);
}
