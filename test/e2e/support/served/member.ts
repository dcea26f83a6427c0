/**
 * One of many instances in a steered process: a front or a worker over Redis, with a point at every store commit, effect and
 * response. The parts are those of `serveFront` and `serveWorker`; the store has to be wrapped, so they are joined here.
 */
import { listen } from "@reprise/front";
import { createPoolDispatcher, startWorker } from "@reprise/pool";
import { createStateSealer } from "@reprise/request-state";
import { createRuntime, type RuntimeOptions, type ServerDefinition } from "@reprise/runtime";
import { connectRedis, openKeyRing, openRedisStore } from "@reprise/store-redis";
import type { MemberPlace } from "../messages.ts";
import { pointResponses } from "./pointedResponses.ts";
import { pointedStore } from "./pointedStore.ts";
import type { Points } from "./points.ts";

/** What a front or a worker opened. */
export interface OpenedMember {
  /** Of a front. */
  readonly url?: string;
  whenIdle(then: () => void): void;
  close(): Promise<void>;
}

/** Opens an instance. */
export async function openMember(
  server: ServerDefinition,
  { role, redisUrl, namespace }: MemberPlace,
  leaseMs: number | undefined,
  points: Points,
): Promise<OpenedMember> {
  const connection = await connectRedis({ url: redisUrl });
  const ring = await openKeyRing({ connection, namespace });
  const lease = leaseMs === undefined ? {} : { leaseMs };
  const redisStore = await openRedisStore({ connection, namespace, ...lease });
  const { store, whenIdle } = pointedStore(redisStore, points);
  const options: RuntimeOptions = {
    server,
    store,
    namespace,
    sealer: createStateSealer({ keys: ring }),
  };
  const letGo = async (): Promise<void> => {
    await ring.close();
    await connection.close();
  };

  if (role === "worker") {
    const runtime = createRuntime(options);
    const worker = await startWorker({ runtime, connection, namespace, ...lease });
    return { whenIdle, close: () => worker.close().then(letGo) };
  }
  const dispatcher =
    role === "inline front"
      ? undefined
      : await createPoolDispatcher({ connection, namespace, ...lease });
  const runtime = createRuntime({ ...options, dispatcher });
  const front = await listen({ runtime, port: 0 });
  pointResponses(front.app.server, points);
  return {
    url: front.url,
    whenIdle,
    async close() {
      const drained = runtime.close();
      await front.close();
      await drained;
      await dispatcher?.close();
      await letGo();
    },
  };
}
