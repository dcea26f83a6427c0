/**
 * `npm run pack`: one tarball, `out/reprise-<version>.tgz`, of everything of ours that a user installs.
 *
 * The package `reprise` keeps its own dist and bin; each other package of ours that it needs lies in
 * `internal/<name>`, with its imports of `@reprise/...` rewritten to relative ones. Bundled node_modules
 * would have kept the names, and with them the chance that some client fetches `@reprise/...` from a
 * registry where anybody may claim it; a relative import can't be resolved to somebody else's code.
 * Outside libraries stay ordinary dependencies, at the exact versions of the workspace. The workspace's
 * overrides become dependencies too, since npm heeds overrides of the root project only.
 *
 * Invariants: (1) nothing is packed whose source is gone; (2) no import of `@reprise/...` is left;
 * (3) the same sources give the same bytes.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { fail, root, setUp } from "./setUp.mjs";

const stage = path.join(root, "out/stage");

/** Folders of a package that the tarball leaves out; everything else beside src is data it needs. */
const notPacked = new Set(["src", "test", "dist", "node_modules", "coverage", "pages", "assets"]);

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** The packages of ours that `reprise` needs, each as { folder, name, manifest, target in the tarball }. */
function ourPackages() {
  const byName = new Map(
    readdirSync(path.join(root, "packages")).map((folder) => {
      const manifest = readJson(path.join(root, "packages", folder, "package.json"));
      const target = manifest.name === "reprise" ? "." : `internal/${folder}`;
      return [manifest.name, { folder, manifest, target }];
    }),
  );
  const needed = new Map();
  const visit = (name) => {
    const entry = byName.get(name);
    if (entry === undefined || needed.has(name)) return;
    needed.set(name, entry);
    for (const dependency of Object.keys(entry.manifest.dependencies ?? {})) visit(dependency);
  };
  visit("reprise");
  return needed;
}

/** The outside libraries of all packages, name -> exact version. */
function outsideDependencies(packages, overrides) {
  const found = {};
  for (const { folder, manifest } of packages.values()) {
    for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
      if (packages.has(name)) continue;
      if (found[name] !== undefined && found[name] !== version) {
        fail(`packages/${folder} wants ${name} ${version}, another package ${found[name]}`);
      }
      found[name] = version;
    }
  }
  const locked = readJson(path.join(root, "package-lock.json")).packages;
  for (const [name, version] of Object.entries(overrides ?? {})) {
    // An override of a tool (the lockfile says dev) is no business of the users.
    if (locked[`node_modules/${name}`]?.dev !== true) found[name] ??= version;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where an import of one of our packages leads in the tarball, or undefined for any other. */
function targetOf(specifier, packages) {
  const [, name, sub] = /^(@reprise\/[^/]+|reprise)(\/.*)?$/.exec(specifier) ?? [];
  const entry = packages.get(name);
  if (entry === undefined) return undefined;
  const exported = entry.manifest.exports?.[sub === undefined ? "." : `.${sub}`]?.default;
  if (exported === undefined) fail(`${specifier} is imported and not exported`);
  return path.posix.join(entry.target, exported);
}

/** The text of a packed file: our imports made relative, `.ts` made `.js` in declarations, no source maps. */
function rewritten(text, file, packages) {
  const here = path.posix.dirname(file);
  const relative = (specifier) => {
    const target = targetOf(specifier, packages);
    if (target === undefined) {
      return specifier.startsWith(".") ? specifier.replace(/\.ts$/, ".js") : specifier;
    }
    const between = path.posix.relative(here, target);
    return between.startsWith(".") ? between : `./${between}`;
  };
  return text
    .replaceAll(
      /(\bfrom |\bimport |\bimport\(|\bdeclare module )"([^"\n]+)"/g,
      (_, lead, specifier) => `${lead}"${relative(specifier)}"`,
    )
    .replaceAll(/^\/\/# sourceMappingURL=.*\n?/gm, "");
}

/** Copies one package of ours into the stage. */
function stagePackage({ folder, target }, packages) {
  const from = path.join(root, "packages", folder);
  for (const item of readdirSync(from, { withFileTypes: true })) {
    if (!item.isDirectory() || notPacked.has(item.name)) continue;
    cpSync(path.join(from, item.name), path.join(stage, target, item.name), { recursive: true });
  }
  const dist = path.join(from, "dist");
  for (const item of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const stem = /^(.*?)(?:\.d\.ts|\.js)$/.exec(item)?.[1];
    if (stem === undefined || !existsSync(path.join(from, "src", `${stem}.ts`))) continue;
    const to = path.posix.join(target, "dist", item.split(path.sep).join("/"));
    mkdirSync(path.dirname(path.join(stage, to)), { recursive: true });
    const text = readFileSync(path.join(dist, item), "utf8");
    writeFileSync(path.join(stage, to), rewritten(text, to, packages));
  }
}

/** Invariant 2, over code and declarations; comments may name our packages. */
function refuseLeftovers() {
  for (const item of readdirSync(stage, { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:js|ts)$/.test(item)) continue;
    const code = readFileSync(path.join(stage, item), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    const left = /(?:from|import|import\(|resolve\()\s*["'](@reprise\/[^"']+)["']/.exec(code);
    if (left !== null) fail(`${item} still imports ${left[1]}`);
  }
}

/** The package.json that users get: no source condition, no workspace, nothing of ours to fetch. */
function publicManifest(packages) {
  const { version, description, bin, exports } = packages.get("reprise").manifest;
  const { engines, license, overrides } = readJson(path.join(root, "package.json"));
  const entries = Object.entries(exports).map(([entry, { types, default: code }]) => [
    entry,
    { types, default: code },
  ]);
  return {
    name: "reprise",
    version,
    description,
    license,
    type: "module",
    engines,
    bin,
    exports: { ...Object.fromEntries(entries), "./package.json": "./package.json" },
    dependencies: outsideDependencies(packages, overrides),
  };
}

setUp();
const packages = ourPackages();
const run = (command, args) =>
  execFileSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
try {
  run(path.join(root, "node_modules/.bin/tsc"), ["-b", "packages/reprise"]);
} catch (error) {
  fail(`${error.stdout}the build failed`);
}

rmSync(stage, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
for (const entry of packages.values()) stagePackage(entry, packages);
// Users get the dashboard's pages built: what builds them is no dependency of theirs.
run(process.execPath, ["packages/ops/bundle.mjs", path.join(stage, "internal/ops/assets")]);
refuseLeftovers();
const manifest = publicManifest(packages);
writeFileSync(path.join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
for (const [from, to] of [
  ["packages/reprise/README.md", "README.md"],
  ["docs/CHANGELOG.md", "CHANGELOG.md"],
]) {
  if (existsSync(path.join(root, from))) cpSync(path.join(root, from), path.join(stage, to));
}
for (const file of Object.values(manifest.bin)) {
  if (!existsSync(path.join(stage, file))) fail(`${file} is named as a command and does not exist`);
}
run("npm", ["pack", "./out/stage", "--pack-destination", "out", "--ignore-scripts", "--silent"]);
process.stdout.write(`out/reprise-${manifest.version}.tgz\n`);
