/**
 * All names under which the run store keeps something in Redis, and its channels. No other module spells one.
 *
 * Called by the store and its parts; owner and lifetime of each key: README. (The key ring has its own names.)
 *
 * N1 What one transition touches shares a hash tag, so a Cluster keeps it in one slot: `{<namespace>:<bucket>}`. A bucket and
 *    no tag of the run's own, because the index of what is due must change in the same transition as the run.
 * N2 A keyed run has the bucket of its idempotency scope, with which its id starts.
 * N3 The layout's number stands in every name: a release with another layout finds nothing instead of misreading it.
 * N4 A shared record or log has a tag of its own: none of its changes touches anything else.
 * N5 What history keeps of a run and the lists that it is in share one of 8 buckets of its own: they change in one script, and a page
 *    merges 8 lists.
 */
import { createHash } from "node:crypto";
import { type SharedKey, sharedName } from "@reprise/runtime";

/** Number of the layout that this release writes and reads. */
const LAYOUT_FORMAT: number = 1;
/** Enough to spread over any Cluster, few enough to look at all of them every few seconds. */
export const BUCKETS: number = 256;

/** Of history: enough to spread over a Cluster, few enough to merge a page of all of them. */
export const HISTORY_BUCKETS: number = 8;

/** Runs whose keys are remembered. */
const REMEMBERED = 4_096;

const namespaces = /^[A-Za-z0-9_.-]{1,64}$/;
const word = /^[A-Za-z0-9_-]{1,400}$/;
/** The scope at the start of a keyed run's id. */
const scopeAtStart = /^(.+?)-\d+-/;

/** The keys of one run. */
export interface RunKeys {
  readonly run: string;
  readonly journal: string;
  readonly waiters: string;
  readonly watchers: string;
  readonly due: string;
  /** Of the run's scope; for a run without a key, of its own id, where never anything stands. */
  readonly idempotency: string;
}

/** The keys of one shared record and of the log of the same name. */
export interface SharedKeys {
  readonly record: string;
  readonly log: string;
  readonly items: string;
}

/** Whether a string can be a run id or scope; one that can't leads to nothing. */
export function isWord(id: string): boolean {
  return word.test(id);
}

/** The names of one namespace. */
export class Keys {
  /** How every key of the namespace starts, up to the tag's end. */
  readonly prefix: string;
  /** How the channels of instances start. */
  readonly channels: string;
  /** How the channels of notices start. */
  readonly notices: string;
  readonly #namespace: string;
  /** An attempt's keys are wanted again with each of its steps. */
  readonly #spelled = new Map<string, RunKeys>();

  /** @throws TypeError for a namespace that can't be one */
  constructor(namespace: string) {
    if (!namespaces.test(namespace)) {
      throw new TypeError("namespace must be 1 to 64 characters of A-Z a-z 0-9 _ . -");
    }
    this.#namespace = namespace;
    this.prefix = `reprise${LAYOUT_FORMAT}:{${namespace}:`;
    this.channels = `reprise${LAYOUT_FORMAT}:${namespace}:instance:`;
    this.notices = `reprise${LAYOUT_FORMAT}:${namespace}:notices:`;
  }

  ofRun(runId: string): RunKeys {
    const known = this.#spelled.get(runId);
    if (known !== undefined) return known;
    if (this.#spelled.size >= REMEMBERED) this.#spelled.clear();
    const spelled = this.#spell(runId);
    this.#spelled.set(runId, spelled);
    return spelled;
  }

  #spell(runId: string): RunKeys {
    const tag = this.#tag(bucketOf(runId));
    return {
      run: `${tag}run:${runId}`,
      journal: `${tag}journal:${runId}`,
      waiters: `${tag}waiters:${runId}`,
      watchers: `${tag}watchers:${runId}`,
      due: `${tag}due`,
      idempotency: `${tag}idempotency:${scopeOf(runId) ?? runId}`,
    };
  }

  /** Where the idempotency record of a scope stands: id of the run that it leads to. */
  idempotency(scope: string): string {
    return this.ofRun(`${scope}-0-`).idempotency;
  }

  /** Run ids of one bucket by the time at which somebody should look at them. */
  due(bucket: number): string {
    return `${this.#tag(bucket)}due`;
  }

  /** What a principal's waiting runs amount to. Hashed: principals are long and may hold anything. */
  waiting(principal: string): string {
    const digest = createHash("sha256").update(principal).digest("base64url").slice(0, 22);
    return `reprise${LAYOUT_FORMAT}:{${this.#namespace}:caller:${digest}}:waiting`;
  }

  /** @throws RangeError for what is no key */
  ofShared(key: SharedKey): SharedKeys {
    const tag = `reprise${LAYOUT_FORMAT}:{${this.#namespace}:shared:${sharedName(key)}}:`;
    return { record: `${tag}record`, log: `${tag}log`, items: `${tag}items` };
  }

  /** The bucket of a run's history. */
  historyBucketOf(runId: string): number {
    return bucketOf(runId) % HISTORY_BUCKETS;
  }

  /** What is known of a run, and its events. */
  historyOf(runId: string): { readonly kept: string; readonly timeline: string } {
    const tag = this.#historyTag(this.historyBucketOf(runId));
    return { kept: `${tag}kept:${runId}`, timeline: `${tag}timeline:${runId}` };
  }

  /** A list of runs. @param list words of A-Z a-z 0-9 _ - */
  historyList(bucket: number, list: string): string {
    return `${this.#historyTag(bucket)}list:${list}`;
  }

  /** What operators see besides runs. */
  get operators(): { readonly instances: string; readonly seen: string; readonly audit: string } {
    const tag = `reprise${LAYOUT_FORMAT}:{${this.#namespace}:operators}:`;
    return { instances: `${tag}instances`, seen: `${tag}seen`, audit: `${tag}audit` };
  }

  #historyTag(bucket: number): string {
    return `reprise${LAYOUT_FORMAT}:{${this.#namespace}:history:${bucket}}:`;
  }

  #tag(bucket: number): string {
    return `${this.prefix}${bucket.toString(16).padStart(2, "0")}}:`;
  }
}

/** The scope with which a keyed run's id starts; undefined for other ids. */
function scopeOf(runId: string): string | undefined {
  return scopeAtStart.exec(runId)?.[1];
}

/** Of the part that an id shares with its scope (N2): a scope's own id is read as that of a run. */
function bucketOf(id: string): number {
  const shared = scopeOf(`${id}-0-`) ?? id;
  let hash = 0x811c9dc5;
  for (let index = 0; index < shared.length; index += 1) {
    hash = Math.imul(hash ^ shared.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % BUCKETS;
}
