/**
 * The peers' packages: no dependencies of the workspace, installed into `peers/` when the suite `peers` is named.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Their folder, with a package.json and a lockfile of its own. */
export const peersFolder: string = fileURLToPath(new URL("peers", import.meta.url));

/** Installs what the lockfile names, unless it is there; npm's own output goes to stderr. */
export function installPeers(): void {
  if (isInstalled()) return;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const run = spawnSync("npm", args, { cwd: peersFolder, stdio: ["ignore", 2, 2] });
  if (run.status !== 0) throw new Error(`npm ci in ${peersFolder} failed: see above`);
}

/** The version of a package as it is installed. */
export function peerVersion(name: string): string {
  return versionIn(join(peersFolder, "node_modules", name, "package.json"));
}

/** Restate's server, a binary of the package of this platform. */
export function restateBinary(): string {
  const platform = `${process.platform}-${process.arch}`;
  const file = join(
    peersFolder,
    "node_modules/@restatedev",
    `restate-server-${platform}`,
    "bin/restate-server",
  );
  if (!existsSync(file)) throw new Error(`Restate publishes no server for ${platform}`);
  return file;
}

function isInstalled(): boolean {
  const manifest = readFileSync(join(peersFolder, "package.json"), "utf8");
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  return Object.entries(dependencies).every(([name, version]) => {
    const file = join(peersFolder, "node_modules", name, "package.json");
    return existsSync(file) && versionIn(file) === version;
  });
}

function versionIn(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
