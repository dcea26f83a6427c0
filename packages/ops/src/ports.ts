/**
 * What the dashboard needs of a deployment besides history and operator. Each is optional: what is not given is not shown.
 *
 * The composition roots of `reprise` implement them over pool, key ring and store. All reject with RepriseError
 * STORE_UNAVAILABLE where they can't reach what they tell of.
 */

/** A queue of the pool as it stands. */
export interface QueueStanding {
  readonly queue: string;
  /** Jobs that workers could take now, and jobs that they execute. */
  readonly waiting: number;
  readonly active: number;
  /** How long the oldest of the waiting ones has waited, in milliseconds; 0 when none does. */
  readonly oldestMs: number;
  /** Jobs that all workers together may execute at a time by their own settings; 0 when there is no worker. */
  readonly capacity: number;
  readonly paused: boolean;
  /** What an operator has set as the most that all workers together execute; undefined: no limit. */
  readonly limit: number | undefined;
}

/** The queues of the pool: only on Redis. */
export interface QueueDesk {
  readonly queues: readonly string[];
  /** In the order of `queues`. A bounded number of commands each. */
  standing(): Promise<readonly QueueStanding[]>;
  /** Workers take no more jobs of it; those that they execute end. */
  pause(queue: string): Promise<void>;
  resume(queue: string): Promise<void>;
  /** Most jobs that all workers together execute at a time; undefined takes the limit away. */
  resize(queue: string, limit: number | undefined): Promise<void>;
  /** BullMQ's own objects, for the board. */
  raw(): readonly object[];
}

/** A key of the ring. Times are epoch milliseconds. */
export interface KeyStanding {
  readonly kid: string;
  readonly status: "sealing" | "opening" | "ended" | "revoked" | "unreadable";
  readonly owner?: string;
  readonly createdAtMs?: number;
  readonly opensUntilMs?: number;
  readonly revokedAtMs?: number;
  /** Whether it lies in the ring under a `keyEncryptionKey`. */
  readonly wrapped?: boolean;
}

/** The ring of keys that request states and session ids are sealed with: only where instances share one. */
export interface KeyDesk {
  list(): Promise<readonly KeyStanding[]>;
  /** Asks every process for a new key. */
  rotate(): Promise<unknown>;
  /** Takes a key away for ever. @throws RangeError for what can't be a key id */
  revoke(kid: string): Promise<{ readonly known: boolean }>;
}

/** Ends of workers, from outside. */
export interface WorkerDesk {
  /** Asks a worker to take no more jobs and to hand over what runs; it ends by itself then. A hint: the page shows what came of it. */
  drain(instance: string): Promise<void>;
}
