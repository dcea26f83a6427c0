/** Servers and clients that are closed with the test that opened them, the last one first. */
import { connect, type HostClient } from "@reprise/client";
import { onTestFinished } from "vitest";
import { type FakeServer, fakeServer, type Script } from "./fakeServer.ts";
import { accept, formHost, manualClock } from "./hosts.ts";

/** A scripted server. */
export async function serve(...script: Script[]): Promise<FakeServer> {
  const server = await fakeServer(...script);
  onTestFinished(() => server.close());
  return server;
}

/** A client of it whose host says yes to every confirmation. */
export async function client(
  server: FakeServer,
  options: Partial<Parameters<typeof connect>[0]> = {},
): Promise<HostClient> {
  const connected = await connect({
    url: server.url,
    host: formHost(() => accept({ confirm: true })),
    clock: manualClock(),
    ...options,
  });
  onTestFinished(() => connected.close());
  return connected;
}
