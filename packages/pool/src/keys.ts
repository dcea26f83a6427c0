/**
 * Every Redis key of the pool. Owners and lifetimes are in the package README.
 *
 * All keys of a queue share one hash tag, so BullMQ's scripts run on a Cluster; a front's mailbox has a tag of its own.
 */
import { RepriseError } from "@reprise/errors";

/** Layout version: a release that changes what is behind these names counts it up. */
const LAYOUT = "1";

/** The keys of one queue. */
export interface QueueKeys {
  /** BullMQ's `prefix` option. */
  readonly prefix: string;
  /** Sorted set: fronts with jobs, by the server time at which they count no more. */
  readonly fronts: string;
  /** Sorted set: workers as `<id>|<concurrency>`, likewise. */
  readonly workers: string;
  job(id: string): string;
  lock(id: string): string;
  /** What BullMQ keeps of a queue besides its jobs. */
  readonly structure: readonly string[];
}

/** BullMQ separates with colons, and a tag may hold no braces. */
const allowed = /^[A-Za-z0-9_.-]{1,64}$/;

/** @throws RepriseError CONFIG_INVALID for a name that can't be part of a key */
export function checkName(what: string, name: string): string {
  if (allowed.test(name)) return name;
  throw new RepriseError(
    "CONFIG_INVALID",
    `the ${what} ${JSON.stringify(name)} is not 1 to 64 of A-Z a-z 0-9 _ . -`,
  );
}

/** The keys of a queue. */
export function queueKeys(namespace: string, queue: string): QueueKeys {
  const prefix = `{${namespace}:pool${LAYOUT}:${queue}}`;
  const job = (id: string): string => `${prefix}:${queue}:${id}`;
  return {
    prefix,
    fronts: `${prefix}:fronts`,
    workers: `${prefix}:workers`,
    job,
    lock: (id) => `${job(id)}:lock`,
    structure: structure.map(job),
  };
}

const structure = [
  "meta",
  "id",
  "events",
  "marker",
  "wait",
  "active",
  "prioritized",
  "pc",
  "delayed",
  "stalled",
  "completed",
  "failed",
  "limiter",
];

/** Stream of what workers send to one front. */
export function mailboxKey(namespace: string, front: string): string {
  return `{${namespace}:pool${LAYOUT}:front:${front}}:mail`;
}

/** Channel on which fronts say that nobody waits for a call any more. */
export function goneChannel(namespace: string): string {
  return `${namespace}:pool${LAYOUT}:gone`;
}
