/**
 * One server with the embedded store, and the outside world beside it, which nothing hits.
 */
import { execFile } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { startOutsideProcess } from "@reprise/shop";
import { openLmdbStore } from "@reprise/store-lmdb";
import { Member } from "../../support/cluster/member.ts";
import type { Stage } from "../fault.ts";
import type { Evidence } from "../judge/excuse.ts";
import type { LookedAtStore } from "../judge/stuckRuns.ts";

/** A running server. */
export interface EmbeddedServer {
  readonly url: string;
  readonly outside: string;
  readonly leaseMs: number;
  readonly member: Member;
  readonly deaths: readonly string[];
  readonly ends: Evidence["ends"];
  readonly trailFolder: string;
  /** Size of the store's file in bytes. */
  storeBytes(): Promise<number>;
  /** Lets no file of the server grow beyond so many bytes, as a quota does; undefined: no limit. */
  limitFiles(bytes: number | undefined): Promise<void>;
  look(): Promise<LookedAtStore>;
  close(): Promise<void>;
}

const leaseMs = 3_000;
const run = promisify(execFile);

/** Starts it. Ports of its own, for MCP and for the shop's page, are kept over its lives. */
export async function openEmbedded(
  { folder, roleArgs }: Stage,
  [port, pagePort]: readonly [number, number],
): Promise<EmbeddedServer> {
  const directory = path.join(folder, "data/store");
  const outside = await startOutsideProcess({
    port: 0,
    smtpPort: 0,
    dataDir: path.join(folder, "shop"),
    merchantUrl: `http://127.0.0.1:${pagePort}/`,
  });
  const deaths: string[] = [];
  const ends: { readonly pid: number; readonly atMs: number }[] = [];
  const trailFolder = path.join(folder, "trail");
  await mkdir(trailFolder);
  const member = new Member(
    {
      name: "embedded server",
      command: process.execPath,
      args: roleArgs("embedded"),
      env: {
        CHAOS_DATA: path.join(folder, "data"),
        CHAOS_LEASE_MS: String(leaseMs),
        CHAOS_PORT: String(port),
        CHAOS_TRAIL: trailFolder,
        SHOP_PAGE_PORT: String(pagePort),
        SHOP_URL: outside.url,
        SHOP_SMTP_PORT: String(outside.smtpPort),
      },
      ready: /^ {2}MCP +(\S+)/,
    },
    {
      onEnd: (_member, pid) => void ends.push({ pid, atMs: performance.now() }),
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
      ...{ url, leaseMs, member, deaths, ends, trailFolder, close },
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
