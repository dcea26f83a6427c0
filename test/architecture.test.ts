/**
 * Holds the layout of the workspace: who may import whom, where each library lives, how files are cut.
 * The rules' data is `architecture.ts`; this file only compares. A finding names the file and what to move.
 */
import path from "node:path";
import { describe, expect, test } from "vitest";
import { declaredOnly, maxLines, sharedLibraries, workspaces } from "./architecture.ts";
import { findingsOfRoot } from "./support/packageRoots.ts";
import {
  codeOf,
  files,
  importsOf,
  packageOf,
  runtimeImportsOf,
  textOf,
  workspaceOf,
} from "./support/sourceTree.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(textOf(path.join(folder, "package.json"))) as Manifest;

const folders = files.flatMap((file) =>
  /^(packages|services)\/[^/]+\/package\.json$/.test(file) ? [path.dirname(file)] : [],
);
const nameOf = new Map(folders.map((folder) => [folder, manifestOf(folder).name]));
const ourNames = new Set(nameOf.values());
const rootTools = Object.keys(manifestOf(".").devDependencies ?? {});
const sources = files.filter((file) =>
  /^(packages|services)\/[^/]+\/(src\/.*\.ts|host\/.*\.tsx?)$/.test(file),
);
/** Pages that run in a browser, and what bundles them: their libraries are built in and never installed. */
const pages = files.filter((file) =>
  /^(packages|services)\/[^/]+\/(.*\.tsx|pages\/.*\.ts|[^/]+\.mjs)$/.test(file),
);
const tests = files.filter((file) => /^((packages|services)\/[^/]+\/)?test\/.*\.ts$/.test(file));

describe("the dependency table", () => {
  test("has a row for every workspace and no other", () => {
    expect(Object.keys(workspaces).toSorted()).toEqual(folders.toSorted());
  });

  test("allows no cycle: each workspace imports only what stands above it", () => {
    const above = new Set<string>();
    for (const [folder, { ours }] of Object.entries(workspaces)) {
      expect(
        ours.filter((name) => !above.has(name)),
        folder,
      ).toEqual([]);
      above.add(manifestOf(folder).name);
    }
  });

  test("is what every package.json declares", () => {
    for (const [folder, { ours, outside }] of Object.entries(workspaces)) {
      const manifest = manifestOf(folder);
      const declared = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
      const judges = Object.keys(manifest.devDependencies ?? {});
      const allowed = new Set([...ours, ...outside]);
      expect(
        declared.filter((name) => !allowed.has(name)),
        folder,
      ).toEqual([]);
      expect(
        judges.filter((name) => !outside.includes(name)),
        `${folder} has tools of its own`,
      ).toEqual([]);
      expect(manifest.peerDependencies, `${folder} has peers`).toBeUndefined();
      expect(manifest.private, `${folder} could be published by accident`).toBe(true);
    }
  });

  test("is kept by every import of the sources", () => {
    const findings = sources.flatMap((file) => {
      const folder = workspaceOf(file) ?? "";
      const row = workspaces[folder];
      const declared = Object.keys(manifestOf(folder).dependencies ?? {});
      return importsOf(file).flatMap((specifier) => {
        const name = packageOf(specifier);
        if (name === undefined || name === nameOf.get(folder)) return [];
        const allowed = row?.ours.includes(name) || row?.outside.includes(name);
        return allowed && declared.includes(name) ? [] : [`${file} imports ${specifier}`];
      });
    });
    expect(findings).toEqual([]);
  });

  test("is kept by every import of pages: their libraries are tools of the build", () => {
    const findings = pages.flatMap((file) => {
      const folder = workspaceOf(file) ?? "";
      const { dependencies, devDependencies } = manifestOf(folder);
      const declared = Object.keys({ ...dependencies, ...devDependencies });
      return importsOf(file).flatMap((specifier) => {
        const name = packageOf(specifier);
        return name === undefined || declared.includes(name)
          ? []
          : [`${file} imports ${specifier}`];
      });
    });
    expect(findings).toEqual([]);
  });

  test("gives each outside library one home", () => {
    const homes = new Map<string, string[]>();
    for (const [folder, { outside }] of Object.entries(workspaces)) {
      for (const name of outside) homes.set(name, [...(homes.get(name) ?? []), folder]);
    }
    for (const [name, where] of homes) {
      const shared = sharedLibraries[name];
      if (shared === undefined) expect(where, name).toHaveLength(1);
      else
        expect(
          where.filter((folder) => !shared(folder)),
          name,
        ).toEqual([]);
    }
  });

  test("names no library that its home, or the home's tests, do not import", () => {
    for (const [folder, { outside }] of Object.entries(workspaces)) {
      const imported = new Set(
        [...sources, ...tests, ...pages]
          .filter((file) => workspaceOf(file) === folder)
          .flatMap((file) => importsOf(file).map(packageOf)),
      );
      const idle = outside.filter((name) => !imported.has(name) && !declaredOnly.includes(name));
      expect(idle, folder).toEqual([]);
    }
  });

  test("pins outside libraries and our own packages exactly", () => {
    for (const folder of [".", ...folders]) {
      const { dependencies, devDependencies } = manifestOf(folder);
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
        expect(version, `${folder}: ${name}`).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      }
    }
  });
});

describe("imports", () => {
  test("never reach into another workspace's folder", () => {
    const findings = [...sources, ...tests].flatMap((file) =>
      importsOf(file).flatMap((specifier) => {
        if (!specifier.startsWith(".")) return [];
        const target = path.join(path.dirname(file), specifier);
        const here = workspaceOf(file);
        const there = workspaceOf(target);
        const crosses = there !== here && (there !== undefined || file.includes("/src/"));
        const intoSources = file.includes("test/") && target.includes("/src/");
        return crosses || intoSources ? [`${file} imports ${specifier}`] : [];
      }),
    );
    expect(findings).toEqual([]);
  });

  test("of tests come from our packages, the tested package's libraries or the root's tools", () => {
    const findings = tests.flatMap((file) => {
      const folder = workspaceOf(file);
      const own = folder === undefined ? [] : (workspaces[folder]?.outside ?? []);
      return importsOf(file).flatMap((specifier) => {
        const name = packageOf(specifier);
        const known = name === undefined || ourNames.has(name) || own.includes(name);
        return known || rootTools.includes(name) ? [] : [`${file} imports ${specifier}`];
      });
    });
    expect(findings).toEqual([]);
  });

  test("form no cycle between files, types aside: a half-loaded module fails far from its cause", () => {
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file))
        cycles.push([...trail.slice(trail.indexOf(file)), file].join(" -> "));
      if (trail.includes(file) || done.has(file)) return;
      for (const specifier of runtimeImportsOf(file)) {
        if (specifier.startsWith("."))
          visit(path.join(path.dirname(file), specifier), [...trail, file]);
      }
      done.add(file);
    };
    const known = new Set(sources);
    for (const file of known) visit(file, []);
    expect(cycles).toEqual([]);
  });
});

describe("files", () => {
  test("lie at most one folder below src", () => {
    const depthOf = (file: string): number => (file.split("/src/")[1] ?? "").split("/").length;
    expect(sources.filter((file) => depthOf(file) > 2)).toEqual([]);
  });

  test(`have at most ${maxLines} lines`, () => {
    const long = files
      .filter((file) => /^(packages|services|test|infra)\/.*\.(tsx?|mjs|js|lua)$/.test(file))
      .map((file) => `${file}: ${textOf(file).trimEnd().split("\n").length}`)
      .filter((line) => Number(line.split(": ")[1]) > maxLines);
    expect(long).toEqual([]);
  });

  test("read the environment only where they are named config.ts or are plain scripts", () => {
    const findings = files
      .filter((file) => /\.(ts|mjs|js)$/.test(file) && !file.startsWith("infra/scripts/"))
      .filter((file) => path.basename(file) !== "config.ts")
      .filter((file) => /\bprocess\s*\.\s*env\b|\bprocess\["env"\]/.test(codeOf(file)));
    expect(findings).toEqual([]);
  });

  test("name no path of one machine and no package registry", () => {
    const machinePath = new RegExp(
      `(?:^|[\\s"'\`(=:])/(?:${["work", "root", "tmp", "home/[a-z]+", "Users/[A-Za-z]+"].join("|")})/`,
      "m",
    );
    const registry = new RegExp(["registry", "npmjs", "org"].join("\\."));
    const findings = files
      .filter((file) => !/\.(png|tgz|ico|woff2?)$/.test(file))
      .filter((file) => machinePath.test(textOf(file)) || registry.test(textOf(file)));
    expect(findings).toEqual([]);
  });

  test("of the lockfile record no place a package was fetched from", () => {
    expect(textOf("package-lock.json")).not.toMatch(/"resolved": "http/);
  });
});

describe("package roots", () => {
  const entries = folders.flatMap((folder) =>
    Object.values(manifestOf(folder).exports ?? {}).map((conditions) =>
      path.join(folder, conditions["@reprise/source"] ?? ""),
    ),
  );

  test.each(entries.map((entry) => [entry]))("%s has named, documented exports only", (entry) => {
    expect(findingsOfRoot(entry)).toEqual([]);
  });
});
