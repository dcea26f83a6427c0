/**
 * The README: its example runs, and its table has every metric of this package.
 */
import { readFileSync } from "node:fs";
import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import { defineServer } from "@reprise/runtime";
import {
  createMetrics,
  keyGauge,
  measuredStore,
  metricsObserver,
  queueGauges,
  storeGauges,
} from "@reprise/telemetry";
import { createManualClock, createMemoryStore } from "@reprise/testing";
import { expect, test } from "vitest";
import { startMeasured } from "./support/example.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("The README's example is the one that runs here, and tells figures", async () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
  const { runtime, text } = startMeasured({
    server: defineServer({ name: "measured" }),
    store: createMemoryStore(createManualClock()),
    sealer: createStateSealer({ keys: ephemeralKeys() }),
  });
  expect(await text()).toContain("\nreprise_store_up 1\n");
  await runtime.close();
});

test("The README's table has every metric", () => {
  const metrics = createMetrics();
  metricsObserver(metrics);
  measuredStore(createMemoryStore(createManualClock()), metrics);
  storeGauges(metrics, async () => ({ ok: true }));
  keyGauge(
    metrics,
    () => undefined,
    () => 0,
  );
  queueGauges(
    metrics,
    async () => [],
    () => 0,
  );
  const table = read("../README.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .join("\n");
  const short = (name: string): string => name.replace("reprise_attempts", "");
  const names = metrics.getMetricsAsArray().map(({ name }) => name);
  expect(
    names.filter((name) => !table.includes(`\`${name}\``) && !table.includes(`\`${short(name)}\``)),
  ).toEqual([]);
});
