/**
 * Brings what the plain scripts (`start`, `test`, `pack`) need before anything of the workspace can run.
 *
 * It has no dependencies and parses on any Node.js with ES modules, since it is what tells a person that
 * theirs is too old. It looks at everything first, then provides what it can, and names all that is still
 * missing in one line: a person who mends one thing should not meet the next one a minute later.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The checkout, whatever directory the script was called from. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** The oldest Node.js that the workspace runs on, as [major, minor]; package.json says the same. */
const oldestNode = [20, 19];

/**
 * Debian packages that a script can need: the command that proves one present -> the package that brings it.
 * Named by `setUp({ tools })`; installed with apt-get where the script runs as root.
 */
const debianPackages = {
  "redis-server": "redis-server",
  "redis-sentinel": "redis-sentinel",
  nginx: "nginx",
  chromium: "chromium",
};

/** Where commands are looked for besides PATH: a plain user's PATH has no folder for servers. */
const serverFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/**
 * Provides npm packages and the named system tools, or prints one line that names all that is missing and
 * ends the process with exit code 1.
 */
export function setUp({ tools = [] } = {}) {
  const missing = [];
  if (!nodeIsRecentEnough()) {
    missing.push(`Node.js ${oldestNode.join(".")} or newer (this is ${process.version})`);
  }
  const absent = tools.filter((tool) => !commandExists(tool));
  const isRoot = process.getuid?.() === 0;
  if (absent.length > 0 && isRoot && commandExists("apt-get")) installDebian(absent);
  for (const tool of absent.filter((name) => !commandExists(name))) {
    missing.push(`${tool} (apt-get install ${debianPackages[tool] ?? tool})`);
  }
  const stale = npmPackagesThatDiffer();
  if (stale.length > 0 && !commandExists("npm")) missing.push("npm");
  if (missing.length > 0) fail(`missing: ${missing.join("; ")}`);
  if (stale.length > 0) installNpm(stale);
}

/** Prints one line to stderr and ends the process. */
export function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function nodeIsRecentEnough() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function commandExists(name) {
  return pathWithServers()
    .split(path.delimiter)
    .some((folder) => existsSync(path.join(folder, name)));
}

/** PATH and the folders where Debian puts servers: what a child needs that starts one of `setUp({ tools })`. */
export function pathWithServers() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return [...folders, ...serverFolders.filter((folder) => !folders.includes(folder))].join(
    path.delimiter,
  );
}

function installDebian(tools) {
  const packages = tools.map((tool) => debianPackages[tool] ?? tool);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (args) => spawnSync("apt-get", args, { env, stdio: "inherit" });
  apt(["update", "-q"]);
  apt(["install", "-y", "-q", "--no-install-recommends", ...packages]);
}

/**
 * The packages of the lockfile that are not installed, or in another version. Compared by content: times say
 * nothing after a checkout that touches the lockfile without changing it, or after an install that died.
 */
function npmPackagesThatDiffer() {
  const wanted = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  let installed;
  try {
    const file = path.join(root, "node_modules/.package-lock.json");
    installed = JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return ["node_modules"];
  }
  return Object.entries(wanted)
    .filter(([where]) => where.startsWith("node_modules/"))
    .filter(([where, entry]) => {
      const found = installed[where];
      // Optional packages are those of other platforms; npm leaves them out and is right to.
      if (found === undefined) return entry.optional !== true;
      return found.version !== entry.version || !existsSync(path.join(root, where));
    })
    .map(([where]) => where);
}

function installNpm(stale) {
  const few = stale.length > 3 ? `${stale.length} packages` : stale.join(", ");
  process.stderr.write(`Installing npm packages: missing or changed: ${few}.\n`);
  try {
    // Everything, also what only tests need: one state of node_modules for start, test and build.
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: root, stdio: "inherit" });
  } catch {
    fail("npm ci failed: see above; the network or the registry may be out of reach");
  }
}
