/**
 * A dispatcher within one process: jobs go as JSON texts to runtimes that play workers, in the order in which they came.
 *
 * It can hold jobs back, lose them and let their workers die, as a test says.
 */
import { RepriseError } from "@reprise/errors";
import type {
  CallReply,
  Dispatcher,
  Executor,
  NotificationSink,
  QueuedJob,
  RemoteCall,
  RunJob,
  Sender,
} from "@reprise/runtime";

type Job =
  | {
      readonly kind: "run";
      readonly job: string;
      readonly sink: NotificationSink | undefined;
      end(): void;
    }
  | {
      readonly kind: "call";
      readonly call: string;
      readonly sink: NotificationSink | undefined;
      readonly sender: Sender;
      end(reply: CallReply): void;
    };

/** A dispatcher that a test moves. */
export interface MemoryDispatcher extends Dispatcher {
  /** Jobs that no worker has. */
  readonly waiting: readonly Job[];
  /** What was ever taken, in order. */
  readonly taken: readonly (RunJob | RemoteCall)[];
  /** Runtimes that execute; changed by tests. */
  workers: readonly Executor[];
  /** Jobs that are executed at one time; 0 holds all back. */
  size: number;
  isFull: boolean;
  /** Gives what waits to workers. */
  pump(): void;
  /** Loses every job that no worker has: who waits learns that nobody knows it. */
  lose(): void;
  /** The next call's worker dies after `before` was done. */
  dieIn: ((run: () => Promise<unknown>) => Promise<void>) | undefined;
}

/** Makes one without workers. */
export function createMemoryDispatcher(): MemoryDispatcher {
  const waiting: Job[] = [];
  const taken: (RunJob | RemoteCall)[] = [];
  const known = new Map<string, QueuedJob>();
  let busy = 0;
  let turn = 0;

  const execute = async (job: Job, worker: Executor): Promise<void> => {
    if (job.kind === "run") {
      await worker.runQueued(JSON.parse(job.job) as RunJob, job.sink);
      job.end();
      return;
    }
    const run = (): Promise<CallReply> =>
      worker.runCall(JSON.parse(job.call) as RemoteCall, job.sink, job.sender);
    const dies = dispatcher.dieIn;
    dispatcher.dieIn = undefined;
    if (dies === undefined) {
      job.end(JSON.parse(JSON.stringify(await run())) as CallReply);
      return;
    }
    await dies(run);
    job.end({ kind: "unanswered", died: true });
  };

  const dispatcher: MemoryDispatcher = {
    waiting,
    taken,
    workers: [],
    size: 10,
    isFull: false,
    dieIn: undefined,
    admit() {
      if (dispatcher.isFull) throw new RepriseError("BUSY", "full", { data: { retryAfterMs: 1 } });
    },
    enqueue(job, sink) {
      const id = `${job.runId} ${job.epoch}`;
      const before = known.get(id);
      if (before !== undefined) return before;
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => {
        end = () => {
          known.delete(id);
          resolve();
        };
      });
      const queued = { ended, release: () => undefined };
      known.set(id, queued);
      taken.push(job);
      waiting.push({ kind: "run", job: JSON.stringify(job), sink, end });
      dispatcher.pump();
      return queued;
    },
    call: (call, sink, sender) =>
      new Promise((resolve) => {
        taken.push(call);
        waiting.push({ kind: "call", call: JSON.stringify(call), sink, sender, end: resolve });
        dispatcher.pump();
      }),
    pump() {
      while (busy < dispatcher.size) {
        const worker = dispatcher.workers[turn % dispatcher.workers.length];
        const job = worker === undefined ? undefined : waiting.shift();
        if (worker === undefined || job === undefined) return;
        turn += 1;
        busy += 1;
        void execute(job, worker).finally(() => {
          busy -= 1;
          dispatcher.pump();
        });
      }
    },
    lose() {
      for (const job of waiting.splice(0)) {
        if (job.kind === "run") job.end();
        else job.end({ kind: "unanswered", died: true });
      }
    },
    health: async () => ({ ok: true }),
    close: async () => undefined,
  };
  return dispatcher;
}
