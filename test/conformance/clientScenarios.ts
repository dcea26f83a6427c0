/**
 * What the client leg runs, and what it knowingly leaves out.
 *
 * The scored scenarios are read from the frozen lists of the pinned suite, so that none can be forgotten here.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import type { JudgedRevision } from "./suite.ts";

const suite = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/conformance/dist/index.js",
);

/** Scenarios that a client must pass for the revision, in the suite's order. */
export async function requiredClientScenarios(
  revision: JudgedRevision,
): Promise<readonly string[]> {
  const file = join(dirname(suite), "..", "requirements", `${revision}.yaml`);
  const { client } = parse(await readFile(file, "utf8")) as { readonly client?: readonly string[] };
  if (client === undefined || client.length === 0) throw new Error(`no client list in ${file}`);
  return client;
}

/** Names of checks that must be skipped: 2026-07-28 has no handshake. */
export const expectedSkips: ReadonlySet<string> = new Set([
  "ClientMcpMethodHeader_initialize",
  "ClientMcpMethodHeader_notifications_initialized",
]);

/** Client scenarios of the suite that are not run, each with the reason. */
export const notRun: readonly { readonly name: string; readonly reason: string }[] = [
  {
    name: "auth/client-credentials-*, auth/enterprise-managed-authorization, auth/dpop*, auth/wif-jwt-bearer",
    reason: "extensions, not scored; this client has a person in front of it",
  },
  { name: "sep-2640-client-*", reason: "the Skills extension, not scored" },
  { name: "json-schema-2020-12-preservation", reason: "added after the release, not scored" },
  {
    name: "auth/2025-03-26-*",
    reason: "of 2025-03-26, which has no list of scored scenarios",
  },
];
