/**
 * A deployment in the test's own process: a front, a worker and a dashboard, with a namespace of their own on one Redis.
 */
import type { ServerDefinition } from "reprise";
import { parseSettings, type Settings, serveFront, serveOps, serveWorker } from "reprise/roles";
import { onTestFinished } from "vitest";
import { RawClient, type RawMessage } from "../../../support/rawMcp.ts";
import type { RedisServer } from "../../../support/redisServer.ts";
import { type Operator, operatorWith } from "./operator.ts";

/** One that serves; closed with the test. */
export interface Deployment {
  readonly operator: Operator;
  readonly settings: Settings;
  /** Ends in `/ops/`. */
  readonly opsUrl: string;
  /** A one-time link; the one before ends. */
  readonly link: () => string;
  /** Where MCP is. */
  readonly url: string;
  /** Calls a tool at the front. */
  call(params: Readonly<Record<string, unknown>>): Promise<RawMessage>;
  /** Ends all of it ahead of the test's end. */
  close(): Promise<void>;
}

let namespaces = 0;

/** Settings with a namespace that no other test has, and free ports. */
export function ownSettings(
  redis: RedisServer,
  env: Readonly<Record<string, string>> = {},
): Settings {
  namespaces += 1;
  return parseSettings({
    env: {
      REPRISE_REDIS_URL: redis.url,
      REPRISE_NAMESPACE: `ops-${namespaces}`,
      REPRISE_PORT: "0",
      REPRISE_PROBE_PORT: "0",
      REPRISE_OPS_PORT: "0",
      ...env,
    },
    readSecretFile: () => "",
  });
}

/** Opens one. @param env more settings */
export async function openDeployment(
  redis: RedisServer,
  server: ServerDefinition,
  env: Readonly<Record<string, string>> = {},
): Promise<Deployment> {
  const settings = ownSettings(redis, env);
  const worker = await serveWorker(server, settings);
  onTestFinished(() => worker.close());
  const front = await serveFront(server, settings);
  onTestFinished(() => front.close());
  const ops = await serveOps(server, settings);
  onTestFinished(() => ops.close());
  const { newLink } = ops;
  if (newLink === undefined) throw new Error("without a provider there are links");
  const client = new RawClient();
  onTestFinished(() => client.close());
  return {
    operator: await operatorWith(newLink()),
    settings,
    opsUrl: ops.url,
    link: newLink,
    url: front.url,
    async close() {
      for (const each of [ops, front, worker]) await each.close();
    },
    call: async (params) =>
      JSON.parse((await client.send(front.url, { params })).body) as RawMessage,
  };
}
