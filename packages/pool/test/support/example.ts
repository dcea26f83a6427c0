import { createPoolDispatcher, type PoolConnection, startWorker } from "@reprise/pool";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { createRuntime, defineServer, type RunStore, tool } from "@reprise/runtime";

const server = defineServer({
  name: "sums",
  tools: [tool({ name: "sum", description: "Adds", handler: () => "It is 4." })],
});

/** A front and a worker: each in a process of its own, with a connection and a store of its own. */
export async function startBoth(connection: PoolConnection, store: () => RunStore) {
  const sealer = createStateSealer({ keys: keysFromSecrets("32 bytes that both processes share") });

  const worker = await startWorker({
    runtime: createRuntime({ server, sealer, store: store() }),
    connection,
  });

  const dispatcher = await createPoolDispatcher({ connection });
  const front = createRuntime({ server, sealer, store: store(), dispatcher });

  const close = async () => {
    await front.close();
    await dispatcher.close();
    await worker.close();
  };
  return { front, close };
}
