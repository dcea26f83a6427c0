/**
 * The Kubernetes manifests: what refers to something refers to what is there, probes ask what is served, and pods have
 * the time that a drain takes.
 */
import { readServedConfig } from "@reprise/shop";
import { parseSettings, settingRows } from "reprise/roles";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { dockerInstructions, documentsOf } from "./support/infraFiles.ts";
import { files } from "./support/sourceTree.ts";

const named = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.strictObject({
    name: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});

const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }).optional(),
  tcpSocket: z.strictObject({ port: z.string() }).optional(),
  exec: z.strictObject({ command: z.array(z.string()) }).optional(),
  periodSeconds: z.number(),
  timeoutSeconds: z.number().optional(),
  failureThreshold: z.number().optional(),
});

const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).optional(),
  envFrom: z
    .array(
      z.union([
        z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) }),
        z.strictObject({ secretRef: z.strictObject({ name: z.string() }) }),
      ]),
    )
    .optional(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.number() })),
  lifecycle: z
    .strictObject({
      preStop: z.strictObject({
        exec: z.strictObject({ command: z.tuple([z.literal("sleep"), z.string()]) }),
      }),
    })
    .optional(),
  readinessProbe: probe,
  livenessProbe: probe,
  startupProbe: probe.optional(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  securityContext: z
    .strictObject({
      allowPrivilegeEscalation: z.literal(false),
      readOnlyRootFilesystem: z.literal(true),
      capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
    })
    .optional(),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string() })),
});

const workload = named.extend({
  spec: z.looseObject({
    replicas: z.number(),
    selector: z.strictObject({ matchLabels: z.strictObject({ app: z.string() }) }),
    template: z.strictObject({
      metadata: z.strictObject({ labels: z.strictObject({ app: z.string() }) }),
      spec: z.strictObject({
        terminationGracePeriodSeconds: z.number().optional(),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: z.number(),
          fsGroup: z.number(),
        }),
        containers: z.tuple([container]),
        volumes: z.array(
          z.strictObject({
            name: z.string(),
            configMap: z.strictObject({ name: z.string() }).optional(),
            persistentVolumeClaim: z.strictObject({ claimName: z.string() }).optional(),
          }),
        ),
      }),
    }),
    volumeClaimTemplates: z
      .array(z.looseObject({ metadata: z.object({ name: z.string() }) }))
      .optional(),
  }),
});

const kustomization = z
  .strictObject({
    apiVersion: z.string(),
    kind: z.literal("Kustomization"),
    resources: z.array(z.string()),
    configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })),
  })
  .parse(documentsOf("infra/kustomization.yaml")[0]);
const documents = kustomization.resources.flatMap((file) => documentsOf(`infra/${file}`));
const objects = documents.map((document) => named.parse(document));
const workloads = documents
  .filter((document) => ["Deployment", "StatefulSet"].includes(named.parse(document).kind))
  .map((document) => workload.parse(document));
const namesOf = (kind: string): readonly string[] =>
  objects.filter((each) => each.kind === kind).map((each) => each.metadata.name);
const ofKind = <Schema extends z.ZodType>(kind: string, schema: Schema): z.output<Schema>[] =>
  documents.filter((each) => named.parse(each).kind === kind).map((each) => schema.parse(each));
const containerOf = (app: string): z.output<typeof container> => {
  const found = workloads.find((each) => each.metadata.name === app);
  if (found === undefined) throw new Error(`there is no ${app}`);
  return found.spec.template.spec.containers[0];
};

const dataOf = (configMap: string): Readonly<Record<string, string>> => {
  const data = z.object({
    metadata: z.object({ name: z.string() }),
    data: z.record(z.string(), z.string()),
  });
  const found = ofKind("ConfigMap", data).find(({ metadata }) => metadata.name === configMap);
  if (found === undefined) throw new Error(`there is no ${configMap}`);
  return found.data;
};

const ingress = z.object({
  spec: z.object({
    tls: z.array(z.strictObject({ hosts: z.array(z.string()), secretName: z.string() })).optional(),
    rules: z.array(
      z.object({
        host: z.string(),
        http: z.object({ paths: z.array(z.object({ path: z.string() })) }),
      }),
    ),
  }),
});

/** The kinds that are used, with the version that serves them. */
const versions: Readonly<Record<string, string>> = {
  ConfigMap: "v1",
  Service: "v1",
  PersistentVolumeClaim: "v1",
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  PodDisruptionBudget: "policy/v1",
  HorizontalPodAutoscaler: "autoscaling/v2",
  Ingress: "networking.k8s.io/v1",
  ScaledObject: "keda.sh/v1alpha1",
};

describe("the manifests", () => {
  test("are all of those in the folder, and name files that exist", () => {
    const folder = files.filter((file) => /^infra\/kubernetes\/.*\.yaml$/.test(file));
    expect(kustomization.resources.map((file) => `infra/${file}`).toSorted()).toEqual(
      folder.toSorted(),
    );
    const generated = kustomization.configMapGenerator.flatMap((each) => each.files);
    expect(generated.filter((file) => !files.includes(`infra/${file}`))).toEqual([]);
  });

  test("are kinds and versions that Kubernetes serves, each name once a kind", () => {
    for (const { kind, apiVersion, metadata } of objects) {
      expect(apiVersion, `${kind} ${metadata.name}`).toBe(versions[kind]);
    }
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test("select the pods that they make", () => {
    for (const { metadata, spec } of workloads) {
      expect(spec.selector.matchLabels.app).toBe(metadata.name);
      expect(spec.template.metadata.labels.app).toBe(metadata.name);
    }
    const selecting = z.object({
      spec: z.object({
        selector: z.union([
          z.strictObject({ matchLabels: z.strictObject({ app: z.string() }) }),
          z.strictObject({ app: z.string() }),
        ]),
      }),
    });
    const apps = workloads.map(({ metadata }) => metadata.name);
    for (const kind of ["Service", "PodDisruptionBudget"]) {
      for (const { spec } of ofKind(kind, selecting)) {
        const { selector } = spec;
        expect(apps).toContain("app" in selector ? selector.app : selector.matchLabels.app);
      }
    }
  });

  test("mount volumes, config maps and claims that are there", () => {
    const configMaps = [
      ...namesOf("ConfigMap"),
      ...kustomization.configMapGenerator.map(({ name }) => name),
    ];
    for (const { spec, metadata } of workloads) {
      const { volumes, containers } = spec.template.spec;
      const templates = spec.volumeClaimTemplates ?? [];
      const known = [...volumes, ...templates.map((each) => each.metadata)].map(({ name }) => name);
      for (const { name } of containers[0].volumeMounts)
        expect(known, metadata.name).toContain(name);
      for (const { configMap, persistentVolumeClaim } of volumes) {
        if (configMap !== undefined) expect(configMaps).toContain(configMap.name);
        if (persistentVolumeClaim !== undefined) {
          expect(namesOf("PersistentVolumeClaim")).toContain(persistentVolumeClaim.claimName);
        }
      }
    }
  });

  test("give fronts and workers settings that are settings, and Redis where it is", () => {
    const env = dataOf("reprise-settings");
    const { redisUrl } = parseSettings({ env, readSecretFile: () => "" });
    expect(namesOf("Service")).toContain(new URL(redisUrl ?? "").hostname);
    expect(namesOf("Service")).toContain(new URL(env["SHOP_URL"] ?? "").hostname);
    for (const app of ["reprise-front", "reprise-worker"]) {
      expect(containerOf(app).envFrom).toEqual([
        { configMapRef: { name: "reprise-settings" } },
        { secretRef: { name: "reprise-secrets" } },
      ]);
    }
  });

  test("tell the example's page where MCP is for a browser: a name that the ingress has and the fronts allow", () => {
    const env = dataOf("reprise-settings");
    const { hostname, pathname } = new URL(readServedConfig(env).mcpUrl ?? "");
    expect(parseSettings({ env, readSecretFile: () => "" }).allowedHosts).toContain(hostname);
    const rules = ofKind("Ingress", ingress).flatMap(({ spec }) => spec.rules);
    const paths = rules.filter(({ host }) => host === hostname).flatMap(({ http }) => http.paths);
    expect(paths.map(({ path }) => path)).toContain(pathname);
  });

  test("let operators sign in at a provider, under the name that the ingress has, with a secret that no file holds", () => {
    const env = { ...dataOf("reprise-settings"), ...dataOf("reprise-ops-settings") };
    const settings = parseSettings({ env, readSecretFile: () => "" });
    const { opsIssuer, opsClientId, opsPublicUrl, opsClientSecret } = settings;
    expect(opsIssuer).toMatch(/^https:/);
    expect(opsClientId).not.toBe(undefined);
    const { hostname, pathname } = new URL(opsPublicUrl ?? "");
    const [found] = ofKind("Ingress", ingress).filter(({ spec }) =>
      spec.rules.some(({ host }) => host === hostname),
    );
    expect(found?.spec.tls?.[0]?.hosts).toEqual([hostname]);
    expect(found?.spec.rules[0]?.http.paths.map(({ path }) => path)).toEqual([pathname]);
    expect(opsClientSecret).toBe(undefined);
    expect(containerOf("reprise-ops").envFrom).toEqual([
      { configMapRef: { name: "reprise-settings" } },
      { configMapRef: { name: "reprise-ops-settings" } },
      { secretRef: { name: "reprise-secrets" } },
      { secretRef: { name: "reprise-ops-secrets" } },
    ]);
    expect(namesOf("Secret")).toEqual([]);
  });
});

describe("pods", () => {
  const images = dockerInstructions();

  test.each(["front", "worker", "ops", "shop"])(
    "of the %s listen where their image does",
    (stage) => {
      const exposed = images.find((each) => each.stage === stage && each.name === "EXPOSE")?.rest;
      const { image, ports } = containerOf(`reprise-${stage}`);
      expect(image).toBe(`reprise-${stage}`);
      // The example's own page is the served file's, not the image's.
      const own = ports.filter(({ name }) => name !== "page");
      expect(own.map((each) => String(each.containerPort)).join(" ")).toBe(exposed);
    },
  );

  test("are probed at ports that they have, and services lead to such", () => {
    for (const { metadata, spec } of workloads) {
      const [own] = spec.template.spec.containers;
      const ports = own.ports.map(({ name }) => name);
      for (const each of [own.readinessProbe, own.livenessProbe, own.startupProbe]) {
        const port = each?.httpGet?.port ?? each?.tcpSocket?.port;
        if (port !== undefined) expect(ports, metadata.name).toContain(port);
      }
    }
    const service = z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        ports: z.array(
          z.strictObject({ name: z.string(), port: z.number(), targetPort: z.string().optional() }),
        ),
      }),
    });
    for (const { metadata, spec } of ofKind("Service", service)) {
      const { ports } = containerOf(metadata.name);
      for (const { port, targetPort } of spec.ports) {
        const there = ports.map((each) =>
          targetPort === undefined ? each.containerPort : each.name,
        );
        expect(there, metadata.name).toContain(targetPort ?? port);
      }
    }
  });

  test("of fronts and workers are ready by Redis and alive without it", () => {
    for (const app of ["reprise-front", "reprise-worker"]) {
      const { readinessProbe, livenessProbe, startupProbe } = containerOf(app);
      expect(readinessProbe.httpGet?.path).toBe("/readyz");
      expect(livenessProbe.httpGet?.path).toBe("/healthz");
      expect(startupProbe?.httpGet?.path).toBe("/healthz");
    }
  });

  test("of workers are added by the age of the queue, as a worker tells it", () => {
    const scaled = z.object({
      spec: z.object({
        scaleTargetRef: z.strictObject({ name: z.string() }),
        triggers: z.array(
          z.strictObject({
            type: z.literal("metrics-api"),
            metricType: z.literal("Value"),
            metadata: z.strictObject({
              url: z.string(),
              format: z.literal("prometheus"),
              valueLocation: z.string(),
              targetValue: z.string().regex(/^\d+$/),
            }),
          }),
        ),
      }),
    });
    for (const { spec } of ofKind("ScaledObject", scaled)) {
      const { ports } = containerOf(spec.scaleTargetRef.name);
      for (const { metadata } of spec.triggers) {
        const { hostname, port, pathname } = new URL(metadata.url);
        expect(namesOf("Service")).toContain(hostname);
        expect(ports.map(({ containerPort }) => String(containerPort))).toContain(port);
        expect(pathname).toBe("/metrics");
        expect(metadata.valueLocation).toMatch(
          /^reprise_queue_oldest_wait_seconds\{queue="\w+"\}$/,
        );
      }
    }
  });

  test("of fronts and workers have the time that leaving the balancer, draining and handing over take", () => {
    const drain =
      Number(settingRows.find(({ name }) => name === "drainTimeoutMs")?.otherwise) / 1000;
    for (const app of ["reprise-front", "reprise-worker"]) {
      const pod = workloads.find((each) => each.metadata.name === app)?.spec.template.spec;
      const preStop = Number(pod?.containers[0].lifecycle?.preStop.exec.command[1] ?? 0);
      expect(pod?.terminationGracePeriodSeconds, app).toBeGreaterThanOrEqual(preStop + drain + 5);
    }
  });
});
