/**
 * What a front is told, and what it makes of it. Read once, at construction; arrays are copied.
 *
 * `resolveOptions` throws TypeError or RangeError naming the option; nothing later does.
 */
import { type Clock, type Runtime, systemClock } from "@reprise/runtime";
import type { Authenticate } from "./auth/authenticate.ts";
import {
  type ProtectedResource,
  type PublishedResource,
  publishedResource,
} from "./auth/protectedResource.ts";

import { type LegacyConfig, type LegacyOptions, resolveLegacyOptions } from "./legacy/options.ts";

/** Options of `createFront`. */
export interface FrontOptions {
  readonly runtime: Runtime;
  /** Where MCP is served. Default `/mcp`. */
  readonly path?: string;
  /**
   * Names that the Host header may carry besides loopback ones: `mcp.example.com` (any port) or
   * `mcp.example.com:8443`. A request with another one gets 403, which is what stops DNS rebinding.
   */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call, besides loopback ones: `https://app.example.com`, exactly. They get CORS headers. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Request headers that pages of allowed origins may send besides those of MCP: the one of an API key, such as
   * `x-api-key`. Default none.
   */
  readonly allowedHeaders?: readonly string[];
  /** Largest body of a POST in bytes. Default 4194304 (4 MiB); a larger one gets 413. */
  readonly maxBodyBytes?: number;
  /**
   * Of these secrets `/metrics` wants one as bearer token: each at least 32 bytes. Default none: whoever reaches the address under an
   * allowed Host may read names of tools, counts and durations, and how much room the store has.
   */
  readonly metricsToken?: readonly string[];
  /**
   * More metrics in the Prometheus text format, joined to the front's own under `/metrics`. Default: none. When it rejects, they are
   * left out and that is logged.
   */
  readonly metricsText?: () => Promise<string>;
  /** Entries of one page of a list. Default 200. */
  readonly pageSize?: number;
  /** How long clients may reuse lists and discovery. Default 300000 (5 minutes); 0 while developing. */
  readonly listTtlMs?: number;
  /**
   * After this long in silence a request with a progress token gets a progress notification, and an open stream a
   * comment, so that neither the client nor a proxy gives up. Default 15000.
   */
  readonly heartbeatMs?: number;
  /**
   * Streams of subscriptions/listen that this front holds; more get BUSY. Default 10000. Each takes a connection and about 10 KB.
   */
  readonly maxSubscriptions?: number;
  /** The same for one caller; without `authenticate` all callers are one and this says nothing. Default 100. */
  readonly maxSubscriptionsPerCaller?: number;
  /**
   * Longest time that notifications are held back because the first ask may still fail the capability check, whose
   * error needs an HTTP status. Default 1000.
   */
  readonly commitAfterMs?: number;
  /**
   * The revisions with the initialize handshake (2025-11-25, 2025-06-18, 2025-03-26). Default: served. `"none"`: their
   * clients are told which revision is served.
   */
  readonly legacy?: LegacyOptions | "none";
  /** Time: the runtime's. Default: the process's clock. */
  readonly clock?: Clock;
  /** Who calls. Default: everybody is `anonymous`, and the front serves loopback only. */
  readonly authenticate?: Authenticate;
  /**
   * What is published at `/.well-known/oauth-protected-resource` (RFC 9728) and named in challenges; its host counts as
   * allowed. `createBearerAuth` gives it. Default: nothing is published.
   */
  readonly protectedResource?: ProtectedResource;
  /** `"none"`: serve other machines without auth. They can call everything. */
  readonly auth?: "none";
}

/** The options with all defaults. */
export interface FrontConfig {
  readonly runtime: Runtime;
  readonly path: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly maxBodyBytes: number;
  readonly metricsToken: readonly string[];
  readonly metricsText: (() => Promise<string>) | undefined;
  readonly pageSize: number;
  readonly listTtlMs: number;
  readonly heartbeatMs: number;
  readonly maxSubscriptions: number;
  readonly maxSubscriptionsPerCaller: number;
  readonly commitAfterMs: number;
  /** Undefined: legacy clients are refused. */
  readonly legacy: LegacyConfig | undefined;
  readonly clock: Clock;
  readonly authenticate: Authenticate | undefined;
  readonly protectedResource: PublishedResource | undefined;
  /** Whether a non-loopback address may be served. */
  readonly servesOthers: boolean;
}

/** Checks the options and fills in the defaults. */
export function resolveOptions(options: FrontOptions): FrontConfig {
  const path = options.path ?? "/mcp";
  if (!/^\/[\w\-./]*$/.test(path))
    throw new TypeError("path must start with / and be a plain path");
  if (options.auth !== undefined && options.auth !== "none") {
    throw new TypeError('auth must be "none" or left out');
  }
  if (options.auth === "none" && options.authenticate !== undefined) {
    throw new TypeError('auth: "none" contradicts authenticate');
  }
  if (options.protectedResource !== undefined && options.authenticate === undefined) {
    throw new TypeError("protectedResource needs authenticate: nobody would check its tokens");
  }
  const protectedResource =
    options.protectedResource === undefined
      ? undefined
      : publishedResource(options.protectedResource);
  const publicHost = protectedResource === undefined ? [] : [protectedResource.host];
  return {
    runtime: options.runtime,
    path,
    allowedHosts: [...(options.allowedHosts ?? []), ...publicHost].map(hostEntry),
    allowedOrigins: (options.allowedOrigins ?? []).map(originEntry),
    allowedHeaders: (options.allowedHeaders ?? []).map(headerEntry),
    maxBodyBytes: whole("maxBodyBytes", options.maxBodyBytes ?? 4 * 1024 * 1024, 1),
    metricsToken: (options.metricsToken ?? []).map(metricsSecret),
    metricsText: options.metricsText,
    pageSize: whole("pageSize", options.pageSize ?? 200, 1),
    listTtlMs: whole("listTtlMs", options.listTtlMs ?? 300_000, 0),
    heartbeatMs: whole("heartbeatMs", options.heartbeatMs ?? 15_000, 1),
    maxSubscriptions: whole("maxSubscriptions", options.maxSubscriptions ?? 10_000, 0),
    maxSubscriptionsPerCaller: whole(
      "maxSubscriptionsPerCaller",
      options.maxSubscriptionsPerCaller ?? 100,
      1,
    ),
    commitAfterMs: whole("commitAfterMs", options.commitAfterMs ?? 1_000, 0),
    legacy: options.legacy === "none" ? undefined : resolveLegacyOptions(options.legacy ?? {}),
    clock: options.clock ?? systemClock,
    authenticate: options.authenticate,
    protectedResource,
    servesOthers: options.auth === "none" || options.authenticate !== undefined,
  };
}

const longestTimerMs = 2 ** 31 - 1;

/** @throws RangeError naming the option */
export function whole(name: string, value: number, least: number): number {
  if (!Number.isInteger(value) || value < least || value > longestTimerMs) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${longestTimerMs}`);
  }
  return value;
}

function hostEntry(entry: string): string {
  if (!/^(\[[0-9a-f:.]+\]|[\w-]+(\.[\w-]+)*)(:\d{1,5})?$/i.test(entry)) {
    throw new TypeError(`allowedHosts: "${entry}" is not a host name with or without a port`);
  }
  return entry.toLowerCase();
}

function metricsSecret(secret: string): string {
  if (typeof secret !== "string" || Buffer.byteLength(secret) < 32) {
    throw new TypeError("metricsToken: each must be text of at least 32 bytes");
  }
  return secret;
}

function headerEntry(entry: string): string {
  if (!/^[\w!#$%&'*+.^`|~-]{1,128}$/.test(entry)) {
    throw new TypeError(`allowedHeaders: "${entry}" is no header name`);
  }
  return entry.toLowerCase();
}

function originEntry(entry: string): string {
  if (entry !== "null" && !/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i.test(entry)) {
    throw new TypeError(
      `allowedOrigins: "${entry}" is not an origin such as https://app.example.com`,
    );
  }
  return entry.toLowerCase();
}
