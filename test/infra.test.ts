/**
 * The files that containers and orchestrators are told by, judged by their own parsers and by ours: what they name
 * exists, what they set is a setting, and nobody is killed while it drains.
 */
import { readServedConfig } from "@reprise/shop";
import { parseSettings, settingRows } from "reprise/roles";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { dockerInstructions, documentsOf, isBuilt, seconds } from "./support/infraFiles.ts";
import { files, textOf } from "./support/sourceTree.ts";

const redisUrl = { REPRISE_REDIS_URL: "redis://redis:6379" };
const refuseFiles = (): never => {
  throw new Error("no file is read here");
};
const settingsOf = (env: Readonly<Record<string, string>>) =>
  parseSettings({ env: { ...redisUrl, ...env }, readSecretFile: refuseFiles });

const drainMs = Number(settingRows.find(({ name }) => name === "drainTimeoutMs")?.otherwise);
/** A drain, and what handing over may take after it. */
const shortestGrace = drainMs / 1000 + 5;

describe("the images", () => {
  const instructions = dockerInstructions();
  const stages = instructions.filter(({ name }) => name === "FROM");
  const served = ["front", "worker", "ops", "shop"];
  const of = (stage: string, name: string): readonly string[] =>
    instructions
      .filter((each) => each.stage === stage && each.name === name)
      .map(({ rest }) => rest);

  test("build only on a pinned base and on each other", () => {
    const known: string[] = [];
    for (const { rest, stage } of stages) {
      const base = rest.split(" ")[0] ?? "";
      expect(known.includes(base) || /^node:\d+\.\d+-bookworm-slim$/.test(base), base).toBe(true);
      known.push(stage);
    }
    expect(known).toEqual(expect.arrayContaining(served));
  });

  test("copy between stages that exist, and whole trees only", () => {
    const copies = instructions.filter(({ name }) => name === "COPY").map(({ rest }) => rest);
    expect(copies).toEqual([". .", "--from=build /app ./"]);
  });

  test.each(served)("start the %s's built program without a shell, as a plain user", (stage) => {
    const [command = "[]"] = of(stage, "CMD");
    const [node, program] = z.array(z.string()).parse(JSON.parse(command));
    expect(node).toBe("node");
    expect(isBuilt(program ?? "")).toBe(true);
    expect(of("base", "USER")).toEqual(["node"]);
    expect(of(stage, "FROM")).toEqual([`base AS ${stage}`]);
    expect(of(stage, "HEALTHCHECK")).toHaveLength(1);
  });

  test.each(["front", "worker", "ops"])("give the %s settings that are settings", (stage) => {
    const env = Object.fromEntries(
      of(stage, "ENV").flatMap((line) => line.split(" ").map((pair) => pair.split("="))),
    ) as Record<string, string>;
    const settings = settingsOf(env);
    expect(isBuilt(settings.serverFile ?? "")).toBe(true);
    const ports = { front: settings.port, worker: settings.probePort, ops: settings.opsPort };
    const port = ports[stage as keyof typeof ports];
    expect(of(stage, "EXPOSE")).toEqual([String(port)]);
    expect(of(stage, "HEALTHCHECK")[0]).toContain(
      `http://127.0.0.1:${port}/${stage === "ops" ? "healthz" : "readyz"}`,
    );
  });
});

const composeService = z.strictObject({
  image: z.string(),
  build: z
    .strictObject({ context: z.literal(".."), dockerfile: z.string(), target: z.string() })
    .optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.literal("service_healthy") }))
    .optional(),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
    })
    .optional(),
  profiles: z.tuple([z.literal("operators")]).optional(),
  restart: z.literal("unless-stopped"),
  stop_signal: z.string().optional(),
  stop_grace_period: z.string().optional(),
  deploy: z.strictObject({ replicas: z.number() }).optional(),
});

describe("the compose file", () => {
  const [document] = documentsOf("infra/compose.yaml");
  const { services, volumes } = z
    .looseObject({
      services: z.record(z.string(), composeService),
      volumes: z.record(z.string(), z.null()),
    })
    .parse(document);
  const all = Object.entries(services);
  const filledIn = (text: string): string => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
  /** What a service is told where nobody sets a variable. */
  const environmentOf = (name: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [
        key,
        filledIn(value),
      ]),
    );
  const targets = dockerInstructions().map(({ stage }) => stage);

  test("has two fronts behind nginx, two workers, Redis, the shop, and the dashboard for whoever has a provider", () => {
    expect(Object.keys(services)).toEqual([
      "redis",
      "front-1",
      "front-2",
      "nginx",
      "worker",
      "ops",
      "shop",
    ]);
    expect(all.filter(([, { profiles }]) => profiles !== undefined).map(([name]) => name)).toEqual([
      "ops",
    ]);
    expect(services["worker"]?.deploy?.replicas).toBe(2);
    const upstreams = [...textOf("infra/nginx/nginx.conf").matchAll(/server (front-\d):3000/g)];
    expect(upstreams.map(([, name]) => name)).toEqual(["front-1", "front-2"]);
  });

  test("builds images that the Dockerfile has, and uses nothing else without a version", () => {
    for (const [name, { image, build }] of all) {
      if (build === undefined) expect(image, name).toMatch(/:\d+\.\d+-/);
      else {
        expect(targets, name).toContain(build.target);
        expect(files, name).toContain(build.dockerfile);
        expect(image, name).toBe(`reprise-${build.target}`);
      }
    }
  });

  test("mounts files that exist and volumes that are declared", () => {
    const mounts = all.flatMap(([, { volumes: own = [] }]) =>
      own.map((each) => each.split(":")[0]),
    );
    for (const mount of mounts) {
      if (mount?.startsWith("./")) expect(files).toContain(`infra/${mount.slice(2)}`);
      else expect(Object.keys(volumes)).toContain(mount);
    }
  });

  test("publishes ports on loopback only: the example lets everybody call", () => {
    const ports = all.flatMap(([, { ports: own = [] }]) => own);
    expect(ports).toHaveLength(3);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test("waits for services that say when they are healthy", () => {
    const healthy = (name: string): boolean =>
      services[name]?.healthcheck !== undefined || services[name]?.build !== undefined;
    const awaited = all.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
    expect(awaited.filter((name) => !healthy(name))).toEqual([]);
  });

  test.each(["front-1", "front-2", "worker"])("gives %s settings that are settings", (name) => {
    expect(settingsOf(environmentOf(name)).redisUrl).toBe("redis://redis:6379");
  });

  test("tells the dashboard where people sign in by variables, and holds no secret of it", () => {
    const { opsPublicUrl, opsClientId, opsIssuer, opsClientSecret } = settingsOf(
      environmentOf("ops"),
    );
    expect([opsIssuer, opsClientSecret]).toEqual([undefined, undefined]);
    expect(opsClientId).toBe("reprise");
    const [published] = services["ops"]?.ports ?? [];
    expect(filledIn(published ?? "")).toBe(`${new URL(opsPublicUrl ?? "").host}:3004`);
    const { REPRISE_OPS_ISSUER: issuer, REPRISE_OPS_CLIENT_SECRET: secret } =
      services["ops"]?.environment ?? {};
    expect([issuer, secret]).toEqual([
      `\${REPRISE_OPS_ISSUER:-}`,
      `\${REPRISE_OPS_CLIENT_SECRET:-}`,
    ]);
  });

  test("tells the fronts' page where MCP is for a browser: where nginx is published", () => {
    const { mcpUrl, pagePort } = readServedConfig(environmentOf("front-1"));
    const [published] = services["nginx"]?.ports ?? [];
    expect(`${new URL(mcpUrl ?? "").host}:3000`).toBe(filledIn(published ?? ""));
    expect(new URL(mcpUrl ?? "").pathname).toBe("/mcp");
    expect(textOf("infra/nginx/nginx.conf")).toContain(`server front-1:${pagePort}`);
  });

  test("kills nobody who drains", () => {
    for (const name of ["front-1", "front-2", "worker", "nginx"]) {
      expect(seconds(services[name]?.stop_grace_period ?? "0s")).toBeGreaterThanOrEqual(
        shortestGrace,
      );
    }
  });
});
