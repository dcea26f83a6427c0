/** Clients of scripted servers of the handshake era. */
import { connect, type HostClient } from "@reprise/client";
import { onTestFinished } from "vitest";
import { accept, formHost, manualClock } from "./hosts.ts";
import type { LegacyServer } from "./legacyServer.ts";

type Options = Partial<Parameters<typeof connect>[0]>;

/** A client of it whose host says yes to every confirmation, closed with the test. */
export async function client(server: LegacyServer, options: Options = {}): Promise<HostClient> {
  const connected = await connect({
    url: server.url,
    host: formHost(() => accept({ confirm: true })),
    clock: manualClock(),
    ...options,
  });
  onTestFinished(() => connected.close());
  return connected;
}

/** The text of a call's result. */
export const textOf = (outcome: unknown): unknown =>
  (outcome as { readonly result: { readonly content: readonly { readonly text: string }[] } })
    .result.content[0]?.text;

/** What a response carries. */
export const toOthers = (body: Readonly<Record<string, unknown>>): unknown =>
  body["result"] ?? body["error"];
