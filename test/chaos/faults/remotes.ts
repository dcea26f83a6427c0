/**
 * What no runtime can make up for: a payment service that takes a repeated request for a new one.
 */
import type { Fault } from "../fault.ts";
import { onPool } from "./onPool.ts";
import { killWorker } from "./processes.ts";

/** In the order of docs/reliability.md. */
export const remoteFaults: readonly Fault[] = [
  onPool({
    name: "keys-ignored",
    about: "SIGKILL of a worker while the payment service is slow and ignores idempotency keys",
    limits: { ignoresKeys: true },
    async prepare({ cluster }) {
      const faults = [
        { kind: "ignoreKeys" },
        // Longer calls are more often the ones that a kill falls into.
        { kind: "delay", ms: 150, when: "after" },
      ];
      const response = await fetch(new URL("/faults", cluster.outside), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(faults),
      });
      if (!response.ok) throw new Error(`/faults answered ${response.status}`);
    },
    strike: killWorker,
  }),
];
