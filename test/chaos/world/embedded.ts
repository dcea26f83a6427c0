/**
 * One server with the embedded store, and the outside world beside it, which nothing hits.
 */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { startOutsideProcess } from "@reprise/shop";
import { openLmdbStore } from "@reprise/store-lmdb";
import { Member } from "../../support/cluster/member.ts";
import type { Stage } from "../fault.ts";
import type { LookedAtStore } from "../judge/stuckRuns.ts";

/** A running server. */
export interface EmbeddedServer {
  readonly url: string;
  readonly outside: string;
  readonly leaseMs: number;
  readonly member: Member;
  readonly deaths: readonly string[];
  /** Size of the store's file in bytes. */
  storeBytes(): Promise<number>;
  /** Lets no file of the server grow beyond so many bytes, as a quota does; undefined: no limit. */
  limitFiles(bytes: number | undefined): Promise<void>;
  look(): Promise<LookedAtStore>;
  close(): Promise<void>;
}

const leaseMs = 3_000;
const run = promisify(execFile);

/** Starts it. A port of its own is kept over its lives. */
export async function openEmbedded(
  { folder, roleArgs }: Stage,
  port: number,
): Promise<EmbeddedServer> {
  const directory = path.join(folder, "data/store");
  const outside = await startOutsideProcess({
    port: 0,
    smtpPort: 0,
    dataDir: path.join(folder, "shop"),
  });
  const deaths: string[] = [];
  const member = new Member(
    {
      name: "embedded server",
      command: process.execPath,
      args: roleArgs("embedded"),
      env: {
        CHAOS_DATA: path.join(folder, "data"),
        CHAOS_LEASE_MS: String(leaseMs),
        CHAOS_PORT: String(port),
        SHOP_URL: outside.url,
        SHOP_SMTP_PORT: String(outside.smtpPort),
      },
      ready: /^ {2}MCP +(\S+)/,
    },
    {
      onDeath: ({ name, printed }, how) => void deaths.push(`${name} ended (${how})\n${printed()}`),
    },
  );
  const close = async (): Promise<void> => {
    try {
      await member.stop();
    } finally {
      await outside.stop();
    }
  };
  try {
    const [, url = ""] = await member.start();
    return {
      ...{ url, leaseMs, member, deaths, close },
      outside: outside.url,
      storeBytes: async () => (await stat(path.join(directory, "reprise.mdb"))).size,
      async limitFiles(bytes) {
        // The soft limit alone: the same user may raise it again.
        const limit = `--fsize=${bytes ?? "unlimited"}:`;
        await run("prlimit", ["--pid", String(member.pid), limit]);
      },
      async look() {
        const store = await openLmdbStore({ directory, leaseMs });
        return { store, list: async () => undefined, close: () => store.close() };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
