/**
 * The settings of a front and of a worker: one table that the parser, the command's help and docs/configuration.md share.
 *
 * A setting is a member of the file's JSON object and a variable of the environment, which wins: `leaseMs` and
 * `REPRISE_LEASE_MS`. One file may serve both roles; each takes what is its own.
 */

/** What a front and a worker are told. Names and meaning are those of the table below. */
export interface Settings {
  readonly serverFile?: string;
  readonly redisUrl?: string;
  readonly redisSentinels: readonly string[];
  readonly redisSentinelName?: string;
  readonly redisSentinelPassword?: string;
  readonly redisCluster: readonly string[];
  readonly namespace: string;
  readonly dispatch: "pool" | "inline";
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly auth: "required" | "none";
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly trustProxy: readonly string[];
  readonly publicUrl?: string;
  readonly tokenIssuers: readonly string[];
  readonly tokenAudiences: readonly string[];
  readonly tokenScopes: readonly string[];
  readonly tokenClockTolerance: string;
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly metricsToken: readonly string[];
  readonly pageSize: number;
  readonly listTtlMs: number;
  readonly heartbeatMs: number;
  readonly maxSubscriptions: number;
  readonly maxSubscriptionsPerCaller: number;
  readonly legacy: "served" | "none";
  readonly sessionLifetime: string;
  readonly pollAfterMs: number;
  readonly requestStateKey: readonly string[];
  readonly keyEncryptionKey: readonly string[];
  readonly keyRotationInterval: string;
  readonly requestStateLifetime: string;
  readonly maxRequestStateBytes: number;
  readonly encryptRequestState: boolean;
  readonly jobEncryptionKey: readonly string[];
  readonly recordEncryptionKey: readonly string[];
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly repeatableHistory: boolean;
  readonly maxWaitingRuns: number;
  readonly maxBytesPerCaller: number;
  readonly rateLimitPerMinute: number;
  readonly rateLimitBurst: number;
  readonly joinTimeoutMs: number;
  readonly replayStallMs: number;
  readonly settleGraceMs: number;
  readonly drainTimeoutMs: number;
  readonly maxConcurrentAttempts: number;
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly queueConcurrency: Readonly<Record<string, number>>;
  readonly queueRateLimit: Readonly<Record<string, number>>;
  readonly probeHost: string;
  readonly probePort: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly opsPublicUrl?: string;
  readonly opsIssuer?: string;
  readonly opsClientId?: string;
  readonly opsClientSecret?: string;
  readonly opsRolesClaim: string;
  readonly opsOperatorRoles: readonly string[];
  readonly opsViewerRoles: readonly string[];
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  readonly otlpEndpoint?: string;
}

/** How a setting is written and checked. */
export type SettingKind =
  | {
      readonly kind: "text";
      /** What it must look like, and the words for that. */
      readonly form?: { readonly pattern: RegExp; readonly words: string };
      /** It may hold a password: no message shows it. */
      readonly isHidden?: true;
    }
  | { readonly kind: "whole"; readonly least: number; readonly most: number }
  | { readonly kind: "duration" }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "list" }
  | { readonly kind: "secrets" }
  | { readonly kind: "counts" };

/** One row of the table. */
export interface SettingRow {
  /** The member's name in the file. */
  readonly name: keyof Settings;
  readonly type: SettingKind;
  /** What a number counts; undefined where there is none. */
  readonly unit: string | undefined;
  /** What holds when it is given nowhere; undefined: nothing. */
  readonly otherwise: string | number | boolean | readonly string[] | object | undefined;
  /** A variable that many programs share, read where ours is not set. */
  readonly alias?: string;
  /** Which role reads it. */
  readonly role: "both" | "front" | "worker" | "ops";
  /** What it does, as one sentence or two. */
  readonly doc: string;
}

const text: SettingKind = { kind: "text" };
const redisUrl: SettingKind = {
  kind: "text",
  form: {
    pattern: /^(rediss?:\/\/.|\/.)/,
    words: "redis://host:port, rediss://host:port or the path of a socket",
  },
  isHidden: true,
};
const httpUrl: SettingKind = {
  kind: "text",
  form: { pattern: /^https?:\/\/[^/]/, words: "http://host:port or https://host" },
};
const word: SettingKind = {
  kind: "text",
  form: { pattern: /^[\w.-]{1,64}$/, words: "1 to 64 of A-Z a-z 0-9 _ . -" },
};
const list: SettingKind = { kind: "list" };
const secrets: SettingKind = { kind: "secrets" };
const counts: SettingKind = { kind: "counts" };
const duration: SettingKind = { kind: "duration" };
const onOff: SettingKind = { kind: "switch" };
const port: SettingKind = { kind: "whole", least: 0, most: 65_535 };
const from = (least: number): SettingKind => ({ kind: "whole", least, most: 2 ** 31 - 1 });
const bytes: SettingKind = { kind: "whole", least: 1, most: Number.MAX_SAFE_INTEGER };
const oneOf = (...choices: readonly string[]): SettingKind => ({ kind: "choice", choices });

type Cells = readonly [
  type: SettingKind,
  unit: string | undefined,
  otherwise: SettingRow["otherwise"],
  role: SettingRow["role"],
  doc: string,
];

// biome-ignore format: one row a line, so that it reads as the table it is
const cells: { readonly [Name in keyof Settings]-?: Cells } = {
  serverFile: [text, undefined, undefined, "both", "The file whose default export is served, when the command names none."],

  redisUrl: [redisUrl, undefined, undefined, "both", "The Redis that all processes share, such as `redis://127.0.0.1:6379` or `rediss://user:password@host:6380/0`. With Sentinels or a Cluster it gives user, password and TLS for those."],
  redisSentinels: [list, undefined, [], "both", "Sentinels as `host:port`; the primary is asked from them."],
  redisSentinelName: [text, undefined, undefined, "both", "The name under which the Sentinels know the primary."],
  redisSentinelPassword: [{ kind: "text", isHidden: true }, undefined, undefined, "both", "Of the Sentinels themselves, where they have one."],
  redisCluster: [list, undefined, [], "both", "Some nodes of a Redis Cluster as `host:port`; the others are found through them."],
  namespace: [word, undefined, "reprise", "both", "First part of every key, queue and channel, and part of what request states are bound to."],

  dispatch: [oneOf("pool", "inline"), undefined, "pool", "front", "Where handlers run: on workers, or in the front itself."],
  host: [text, undefined, "127.0.0.1", "front", "Address to bind. Others than loopback need `tokenIssuers`, `authenticate` in the served file, or `auth` set to `none`."],
  port: [port, undefined, 3000, "front", "Port to bind; 0 takes a free one."],
  path: [text, undefined, "/mcp", "front", "Where MCP is served."],
  auth: [oneOf("required", "none"), undefined, "required", "front", "`none` lets everybody call who can reach the address."],
  allowedHosts: [list, undefined, [], "front", "Names that the Host header may carry besides loopback ones. Set it to the public name, also behind a proxy that passes Host on."],
  allowedOrigins: [list, undefined, [], "front", "Origins whose pages may call, besides loopback ones."],
  allowedHeaders: [list, undefined, [], "front", "Headers that such pages may send besides those of MCP, such as `x-api-key`."],
  trustProxy: [list, undefined, [], "front", "Addresses or networks whose `X-Forwarded-*` headers count; `*` for any."],
  publicUrl: [text, undefined, undefined, "front", "The MCP endpoint as its clients reach it, such as `https://mcp.example.com/mcp`: what they ask tokens for. https, loopback excepted. Needed with `tokenIssuers`; its host counts as allowed."],
  tokenIssuers: [list, undefined, [], "front", "Authorization servers whose bearer tokens are accepted: their issuer identifiers, exactly as in the tokens. With one, every call needs a token."],
  tokenAudiences: [list, undefined, [], "front", "What a token's `aud` must name one of; `publicUrl` when empty. For issuers that have names of their own for servers."],
  tokenScopes: [list, undefined, [], "front", "Scopes that every call needs, besides those of its handler."],
  tokenClockTolerance: [duration, undefined, "30s", "front", "How far the issuers' clocks may be off."],
  maxBodyBytes: [bytes, "bytes", 4_194_304, "front", "Largest body of a request; a larger one gets 413."],
  requestTimeoutMs: [from(1), "ms", 60_000, "front", "How long a client may take to send one request, body and all; then it gets 408 and its connection is closed."],
  headersTimeoutMs: [from(1), "ms", 15_000, "front", "The same for the head of a request."],
  metricsToken: [secrets, undefined, [], "front", "Secrets of at least 32 bytes of which `/metrics` wants one as bearer token. Without any, whoever reaches the address under an allowed Host may read it: names of tools, counts, durations, the store's room."],
  pageSize: [from(1), "entries", 200, "front", "Entries of one page of a list."],
  listTtlMs: [from(0), "ms", 300_000, "front", "How long clients may reuse lists and discovery."],
  heartbeatMs: [from(1), "ms", 15_000, "front", "Longest silence on an open stream. Keep it below the idle timeout of every proxy between."],
  maxSubscriptions: [from(0), "streams", 10_000, "front", "Streams of `subscriptions/listen` that one front holds; more get BUSY. Each is a connection."],
  maxSubscriptionsPerCaller: [from(1), "streams", 100, "front", "The same for one caller. Without auth all callers are one, and only `maxSubscriptions` counts."],
  legacy: [oneOf("served", "none"), undefined, "served", "front", "Whether clients of 2025-11-25, 2025-06-18 and 2025-03-26 are served. `none` tells them which revision is."],
  sessionLifetime: [duration, undefined, "24h", "front", "How long such a client's session lives before it initializes anew. The same for all fronts."],
  pollAfterMs: [from(0), "ms", 0, "front", "After this long the stream of a waiting call is closed and its client comes back for the rest, which saves connections; on 2025-11-25 alone. 0: streams stay open."],

  requestStateKey: [secrets, undefined, [], "both", "Secrets of at least 32 bytes for request states: the first seals, all open. Without one the instances share a ring of keys in Redis."],
  keyEncryptionKey: [secrets, undefined, [], "both", "Secrets that wrap the ring's keys in Redis: the first wraps, all unwrap. Without one whoever reads Redis can seal states."],
  keyRotationInterval: [duration, undefined, "24h", "both", "How long one key of the ring seals before its instance makes the next."],
  requestStateLifetime: [duration, undefined, "24h", "both", "How long a question may stay open."],
  maxRequestStateBytes: [from(256), "bytes", 32_768, "both", "Longest sealed request state."],
  encryptRequestState: [onOff, undefined, false, "both", "Hides every request state from the client."],
  jobEncryptionKey: [secrets, undefined, [], "both", "Secrets that encrypt what a job of a repeatable run carries through Redis: the first encrypts, all decrypt. Fronts and workers need the same."],
  recordEncryptionKey: [secrets, undefined, [], "both", "Secrets that encrypt what records hold in Redis (arguments, answers, steps, results, legacy calls and their streams): the first encrypts, all decrypt. Fronts and workers need the same."],

  leaseMs: [from(100), "ms", 10_000, "both", "After this long without a sign of life an attempt counts as dead and its run is taken over. The same for all processes."],
  retentionMs: [from(1000), "ms", 86_400_000, "both", "How long an ended run is kept."],
  repeatableHistory: [onOff, undefined, false, "both", "Shows runs of repeatable handlers in the dashboard too. They have no record: a question that stays open is then data in Redis all the same."],
  maxWaitingRuns: [from(1), "runs", 1000, "both", "Open questions that one caller may have."],
  maxBytesPerCaller: [bytes, "bytes", 67_108_864, "both", "What the waiting runs of one caller may hold."],
  rateLimitPerMinute: [from(0), "calls a minute", 1200, "front", "Calls of one caller at each front in the long run; 0 for no limit. Callers without auth are not counted."],
  rateLimitBurst: [from(1), "calls", 200, "front", "Calls of one caller at once, after a pause."],
  joinTimeoutMs: [from(1), "ms", 45_000, "both", "How long a second request of a round waits for the first one."],
  replayStallMs: [from(1), "ms", 30_000, "both", "Longest silence of a handler while journal entries are undelivered."],
  settleGraceMs: [from(0), "ms", 1000, "both", "How long an ended handler may clean up before its response goes."],
  drainTimeoutMs: [from(0), "ms", 10_000, "both", "How long a stopping process lets running attempts go on; then they are handed over. Orchestrators must wait at least 5 s longer before they kill."],
  maxConcurrentAttempts: [from(1), "attempts", 1000, "both", "Attempts of one process at a time; more are refused as busy."],

  queues: [list, undefined, [], "worker", "The queues that this worker serves; all of the served tools when empty."],
  concurrency: [from(1), "attempts", 16, "worker", "Attempts that this worker runs at a time, of each queue."],
  queueConcurrency: [counts, "attempts", {}, "worker", "`concurrency` of single queues, by name."],
  queueRateLimit: [counts, "attempts a minute", {}, "worker", "What all workers together begin of single queues, by name. Default: no limit."],
  probeHost: [text, undefined, "127.0.0.1", "worker", "Address of the worker's `/healthz`, `/readyz` and `/metrics`."],
  probePort: [port, undefined, 3002, "worker", "Port of the worker's `/healthz`, `/readyz` and `/metrics`; 0 takes a free one."],

  opsHost: [text, undefined, "127.0.0.1", "ops", "Address of the dashboard. Others than loopback need `opsIssuer`."],
  opsPort: [port, undefined, 3004, "ops", "Port of the dashboard, which is under `/ops`; 0 takes a free one."],
  opsPublicUrl: [text, undefined, undefined, "ops", "The dashboard as browsers reach it, such as `https://ops.example.com/ops`; the provider sends them back to this and `/enter`. https, loopback excepted. Needed with `opsIssuer`; its host counts as allowed."],
  opsIssuer: [text, undefined, undefined, "ops", "The OpenID provider at which people sign in: its issuer identifier. Without one, the command prints one-time links, on loopback only."],
  opsClientId: [text, undefined, undefined, "ops", "What the dashboard is called at the provider. Needed with `opsIssuer`."],
  opsClientSecret: [{ kind: "text", isHidden: true }, undefined, undefined, "ops", "Its secret there; none for a public client, which PKCE protects."],
  opsRolesClaim: [text, undefined, "roles", "ops", "The claim of the ID token that holds a person's roles: a text or a list; dots lead into objects, as in `realm_access.roles`."],
  opsOperatorRoles: [list, undefined, ["operator"], "ops", "Roles that may act and reveal values."],
  opsViewerRoles: [list, undefined, ["viewer"], "ops", "Roles that may look. Who has none of either is turned away."],

  logLevel: [oneOf("debug", "info", "warn", "error", "silent"), undefined, "info", "both", "Least level of the JSON log lines on stderr."],
  otlpEndpoint: [httpUrl, undefined, undefined, "both", "Base URL of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`; `OTEL_EXPORTER_OTLP_ENDPOINT` says the same. Without one nothing is traced."],
};

const aliases: Readonly<Partial<Record<keyof Settings, string>>> = {
  otlpEndpoint: "OTEL_EXPORTER_OTLP_ENDPOINT",
};

/** The table, in the order of the documentation. */
export const settingRows: readonly SettingRow[] = Object.entries(cells).map(
  ([name, [type, unit, otherwise, role, doc]]) => ({
    name: name as keyof Settings,
    ...aliasOf(name as keyof Settings),
    type,
    unit,
    otherwise,
    role,
    doc,
  }),
);

function aliasOf(name: keyof Settings): Pick<SettingRow, "alias"> {
  const alias = aliases[name];
  return alias === undefined ? {} : { alias };
}

/** The variable of a setting: `REPRISE_LEASE_MS` for `leaseMs`. */
export function variableOf(name: keyof Settings): string {
  return `REPRISE_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
