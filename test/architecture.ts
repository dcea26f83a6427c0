/**
 * The dependency table of design section 12, as data. `architecture.test.ts` compares it with every
 * package.json and every import; whoever needs a new arrow or a new library changes this file in the same
 * commit and says why there.
 *
 * Arrows point inwards: the runtime names what it needs as ports, adapters implement them, only `reprise`
 * and the services join adapters. An outside library has one home, so that it can be replaced there.
 */

/** What one workspace may import. */
interface Workspace {
  /** Our packages, by name. */
  readonly ours: readonly string[];
  /** Outside libraries, by name. */
  readonly outside: readonly string[];
}

/** Every workspace, by its folder, in the order of the arrows: each imports only what stands above it. */
export const workspaces: Readonly<Record<string, Workspace>> = {
  "packages/errors": { ours: [], outside: [] },
  "packages/protocol": {
    ours: ["@reprise/errors"],
    outside: ["@modelcontextprotocol/core", "@modelcontextprotocol/server"],
  },
  "packages/journal": { ours: ["@reprise/errors"], outside: [] },
  "packages/request-state": { ours: ["@reprise/errors"], outside: ["jose"] },
  "packages/runtime": {
    ours: ["@reprise/errors", "@reprise/journal", "@reprise/protocol"],
    outside: ["ajv", "ajv-formats", "canonicalize"],
  },
  "packages/store-lmdb": {
    ours: ["@reprise/errors", "@reprise/journal", "@reprise/runtime"],
    outside: ["lmdb"],
  },
  "packages/store-redis": {
    ours: ["@reprise/errors", "@reprise/journal", "@reprise/request-state", "@reprise/runtime"],
    outside: ["ioredis"],
  },
  "packages/pool": {
    ours: ["@reprise/errors", "@reprise/journal", "@reprise/runtime"],
    outside: ["bullmq"],
  },
  "packages/telemetry": {
    ours: ["@reprise/errors", "@reprise/runtime"],
    outside: [
      "@opentelemetry/api",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace-base",
      "prom-client",
    ],
  },
  // The front judges bearer tokens, and jose, which checks their signatures, has its home in request-state.
  "packages/front": {
    ours: ["@reprise/errors", "@reprise/protocol", "@reprise/request-state", "@reprise/runtime"],
    outside: ["fastify"],
  },
  // Built into the pages by the bundler, so that nothing of it is installed: esbuild, preact and Pico.
  // What a browser carries through a sign-in is wrapped as everything else that others keep for us.
  "packages/ops": {
    ours: ["@reprise/errors", "@reprise/journal", "@reprise/request-state", "@reprise/runtime"],
    outside: [
      "@bull-board/api",
      "@bull-board/ui",
      "@picocss/pico",
      "esbuild",
      "fastify",
      "openid-client",
      "preact",
      "preact-iso",
    ],
  },
  "packages/client": { ours: ["@reprise/errors"], outside: ["@modelcontextprotocol/client"] },
  // What authors test with seals states as their server does.
  "packages/testing": {
    ours: ["@reprise/errors", "@reprise/journal", "@reprise/request-state", "@reprise/runtime"],
    outside: [],
  },
  "packages/reprise": {
    ours: [
      "@reprise/client",
      "@reprise/errors",
      "@reprise/front",
      "@reprise/journal",
      "@reprise/ops",
      "@reprise/pool",
      "@reprise/protocol",
      "@reprise/request-state",
      "@reprise/runtime",
      "@reprise/store-lmdb",
      "@reprise/store-redis",
      "@reprise/telemetry",
      "@reprise/testing",
    ],
    outside: ["commander", "pino", "tsx"],
  },
  "services/front": { ours: ["reprise"], outside: [] },
  "services/worker": { ours: ["reprise"], outside: [] },
  "services/ops": { ours: ["reprise"], outside: [] },
  "services/shop": {
    ours: ["reprise"],
    // esbuild and preact: the host page (services/shop/host), bundled when it is first visited.
    outside: ["esbuild", "fastify", "mailparser", "nodemailer", "preact", "smtp-server", "zod"],
  },
};

/**
 * Libraries that more than one workspace may name: fastify by the front, the dashboard and services with pages
 * of their own, zod by everything that plays the author, esbuild and preact by whatever has pages with a script.
 */
export const sharedLibraries: Readonly<Record<string, (folder: string) => boolean>> = {
  fastify: (folder) =>
    ["packages/front", "packages/ops"].includes(folder) || folder.startsWith("services/"),
  zod: (folder) => folder.startsWith("services/"),
  esbuild: (folder) => folder === "packages/ops" || folder.startsWith("services/"),
  preact: (folder) => folder === "packages/ops" || folder.startsWith("services/"),
};

/** Libraries that a workspace declares without importing: programs it starts and pins for others. */
export const declaredOnly: readonly string[] = ["tsx", "@bull-board/ui", "@picocss/pico"];

/** The most lines a file of packages, services and test may have; longer ones are split by concept. */
export const maxLines = 400;
