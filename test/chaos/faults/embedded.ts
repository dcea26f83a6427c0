/**
 * Faults of the embedded store: its process is killed, its disk is full.
 */
import { setTimeout as pause } from "node:timers/promises";
import { unusedPorts } from "../../support/cluster/ports.ts";
import type { Draw } from "../draw.ts";
import type { Fault } from "../fault.ts";
import { type EmbeddedServer, openEmbedded } from "../world/embedded.ts";

function onEmbedded({
  strike,
  ...fault
}: Omit<Fault, "open"> & {
  readonly strike: (server: EmbeddedServer, draw: Draw) => Promise<string>;
}): Fault {
  return {
    ...fault,
    async open(stage) {
      const [port = 0, pagePort = 0] = await unusedPorts(2);
      const server = await openEmbedded(stage, [port, pagePort]);
      const { url, outside, leaseMs, deaths, ends, trailFolder } = server;
      return {
        ...{ url, outside, leaseMs, deaths, ends, trailFolder },
        strike: (draw) => strike(server, draw),
        openStore: () => server.look(),
        close: () => server.close(),
      };
    },
  };
}

async function kill({ member }: EmbeddedServer, draw: Draw): Promise<string> {
  await member.kill();
  await pause(draw.between(0, 2_000));
  await member.start();
  return "server killed";
}

/** The store's file can't grow: pages that are free are still used, then there is none. */
async function fill(server: EmbeddedServer, draw: Draw): Promise<string> {
  const room = draw.between(0, 16) * 4_096;
  const forMs = draw.between(2_000, 6_000);
  await server.limitFiles((await server.storeBytes()) + room);
  await pause(forMs);
  await server.limitFiles(undefined);
  return `disk full for ${forMs} ms`;
}

/** In the order of docs/reliability.md. */
export const embeddedFaults: readonly Fault[] = [
  onEmbedded({
    name: "embedded-kill",
    about: "SIGKILL of a server with the embedded store; started again within 2 s",
    strike: kill,
  }),
  onEmbedded({
    name: "embedded-disk-full",
    about: "the embedded store's file can't grow (a file-size limit) for 2 to 6 s",
    bitesWith: "STORE_FULL",
    hurtsStore: true,
    strike: fill,
  }),
];
