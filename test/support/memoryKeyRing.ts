/**
 * A key ring's database in memory: the port's rules without a network, and with the faults that tests need.
 *
 * Its contract is `keyRingStoreSuite.ts`, which the Redis adapter passes too.
 */
import type { KeyRingStore, RingEntry } from "@reprise/request-state";

/** A database that several processes share in one test. */
export interface MemoryKeyRing {
  /** One process's connection. */
  connect(): MemoryConnection;
  /** Everything is gone, as after a restart without persistence. */
  lose(): void;
  /** Everything under these kids is gone, as after a failover to a replica that lacked it. */
  loseOnly(kids: readonly string[]): void;
  /** Writes without asking, as whoever has the database's password can. */
  write(entry: RingEntry): void;
  keys(): readonly RingEntry[];
  tombstones(): readonly RingEntry[];
}

/** A connection with a switch. */
interface MemoryConnection {
  readonly store: KeyRingStore;
  /** Commands that reached the database, by name. */
  readonly commands: string[];
  /**
   * `up`; `down`: commands are rejected; `deaf`: commands are executed and their replies lost; `hanging`: nothing
   * settles until the mode changes, and then it is rejected.
   */
  mode(mode: "up" | "down" | "deaf" | "hanging"): void;
  /** As after a new connection. */
  reconnect(): void;
  /** Whether notices reach this process. Default true. */
  hears(notices: boolean): void;
}

/** Makes one. `nowMs` is the database's clock. */
export function createMemoryKeyRing(nowMs: () => number): MemoryKeyRing {
  const keys = new Map<string, RingEntry>();
  const tombstones = new Map<string, RingEntry>();
  const listeners = new Set<(event: "changed" | "reconnected") => void>();
  let facts: { born: number; changes: number; rotateBeforeMs: number } | undefined;
  let lives = 0;

  const changed = (): void => {
    if (facts === undefined) lives += 1;
    facts ??= { born: nowMs(), changes: 0, rotateBeforeMs: 0 };
    facts.changes += 1;
    for (const listener of listeners) listener("changed");
  };
  const prune = (): void => {
    for (const map of [keys, tombstones]) {
      for (const [kid, { endsAtMs }] of map) if (endsAtMs <= nowMs()) map.delete(kid);
    }
  };

  const commands: KeyRingStore = {
    read: async (knownVersion) => {
      const version = facts === undefined ? "none" : `${lives}-${facts.changes}`;
      const { born = nowMs(), rotateBeforeMs = 0 } = facts ?? {};
      const contents = {
        keys: [...keys.values()],
        tombstones: [...tombstones.values()],
        version,
        bornAtMs: born,
        rotateBeforeMs,
      };
      return { nowMs: nowMs(), contents: version === knownVersion ? undefined : contents };
    },
    publish: async (entries) => {
      prune();
      const fresh = entries.filter(({ kid }) => !tombstones.has(kid) && !keys.has(kid));
      for (const entry of fresh) keys.set(entry.kid, entry);
      if (fresh.length > 0) changed();
      return entries.map(({ kid }) => kid).filter((kid) => tombstones.has(kid));
    },
    revoke: async (entries) => {
      prune();
      const fresh = entries.filter(({ kid }) => !tombstones.has(kid));
      for (const entry of fresh) {
        tombstones.set(entry.kid, entry);
        keys.delete(entry.kid);
      }
      if (fresh.length > 0) changed();
    },
    requestRotation: async () => {
      changed();
      if (facts !== undefined) facts.rotateBeforeMs = nowMs();
      return nowMs();
    },
    listen: () => () => undefined,
  };

  return {
    connect: () => connection(commands, listeners),
    lose: () => {
      keys.clear();
      tombstones.clear();
      facts = undefined;
    },
    loseOnly: (kids) => {
      for (const kid of kids) {
        keys.delete(kid);
        tombstones.delete(kid);
      }
      changed();
    },
    write: (entry) => {
      keys.set(entry.kid, entry);
      changed();
    },
    keys: () => [...keys.values()],
    tombstones: () => [...tombstones.values()],
  };
}

function connection(
  commands: KeyRingStore,
  listeners: Set<(event: "changed" | "reconnected") => void>,
): MemoryConnection {
  let mode: "up" | "down" | "deaf" | "hanging" = "up";
  let hears = true;
  const own = new Set<(event: "changed" | "reconnected") => void>();
  const hung = new Set<() => void>();
  const sent: string[] = [];
  const send = async <T>(name: string, command: () => Promise<T>): Promise<T> => {
    if (mode === "hanging") await new Promise<void>((resolve) => hung.add(resolve));
    else if (mode !== "down") {
      sent.push(name);
      const reply = await command();
      if (mode === "up") return reply;
    }
    throw new Error("connection lost");
  };
  return {
    commands: sent,
    mode: (next) => {
      mode = next;
      for (const settle of hung) settle();
      hung.clear();
    },
    reconnect: () => {
      for (const listener of own) listener("reconnected");
    },
    hears: (notices) => {
      hears = notices;
    },
    store: {
      read: (version) => send("read", () => commands.read(version)),
      publish: (entries) => send("publish", () => commands.publish(entries)),
      revoke: (entries) => send("revoke", () => commands.revoke(entries)),
      requestRotation: () => send("requestRotation", () => commands.requestRotation()),
      listen: (listener) => {
        const notice = (event: "changed" | "reconnected"): void => {
          if (hears && mode === "up") listener(event);
        };
        listeners.add(notice);
        own.add(listener);
        return () => {
          listeners.delete(notice);
          own.delete(listener);
        };
      },
    },
  };
}
