/**
 * The dashboard and the alert rules speak of metrics that there are: names, labels, and counters only as rates. And no metric is made
 * that neither shows.
 */
import {
  createMetrics,
  historyGauges,
  keyGauge,
  measuredStore,
  metricsObserver,
  metricsText,
  queueGauges,
  storeGauges,
} from "@reprise/telemetry";
import { createManualClock, createMemoryHistory, createMemoryStore } from "@reprise/testing";
import { describe, expect, test } from "vitest";
import { documentsOf } from "./support/infraFiles.ts";
import { textOf } from "./support/sourceTree.ts";

interface Made {
  readonly type: string;
  readonly help: string;
  /** Undefined: not known. */
  readonly labels: readonly string[] | undefined;
}

interface Expression {
  readonly where: string;
  readonly expr: string;
}

const made = await everyMetric();
const panels = dashboardExpressions();
const rules = alertRules();
const expressions: readonly Expression[] = [
  ...panels,
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
];

/** What every process of ours makes. */
async function everyMetric(): Promise<ReadonlyMap<string, Made>> {
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
  historyGauges(metrics, { history: createMemoryHistory(), historyDropped: 0 });
  const found = new Map<string, Made>();
  const labels = new Map(
    metrics
      .getMetricsAsArray()
      .map((metric) => [
        metric.name,
        (metric as unknown as { labelNames: readonly string[] }).labelNames,
      ]),
  );
  for (const [name, one] of headsOf(await metricsText(metrics))) {
    found.set(name, { ...one, labels: labels.get(name) });
  }
  // The front's own are written by hand, without a library in the path of calls.
  const front = textOf("packages/front/src/metrics.ts").replaceAll("\\n", "\n");
  for (const [name, one] of headsOf(front)) {
    const sample = new RegExp(`${name}\\{(.*)`).exec(front)?.[1] ?? "";
    const names = [...sample.matchAll(/(\w+)="/g)].map(([, label]) => label ?? "");
    found.set(name, { ...one, labels: names });
  }
  return found;
}

/** HELP and TYPE lines. */
function headsOf(text: string): ReadonlyMap<string, Omit<Made, "labels">> {
  const helps = new Map(
    [...text.matchAll(/# HELP (\w+) (.*)/g)].map(([, name = "", help = ""]) => [name, help]),
  );
  return new Map(
    [...text.matchAll(/# TYPE (\w+) (\w+)/g)].map(([, name = "", type = ""]) => [
      name,
      { type, help: helps.get(name) ?? "" },
    ]),
  );
}

function dashboardExpressions(): readonly Expression[] {
  const { panels } = JSON.parse(textOf("infra/grafana/reprise.json")) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expr })),
  );
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

function alertRules(): readonly Rule[] {
  const [file] = documentsOf("infra/prometheus/alerts.yaml") as readonly {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }[];
  return (file?.groups ?? []).flatMap((group) => group.rules);
}

/** The metric that a name in an expression is of: histograms are read by their parts. */
function metricOf(name: string): string {
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return made.get(base)?.type === "histogram" ? base : name;
}

const namesIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/\breprise_\w+/g)].map(([name]) => name);

/** What Prometheus adds to every sample. */
const scraped = ["instance", "job", "le"];

describe("The metrics", () => {
  test("each has a help text, a type and a name that begins with reprise_", () => {
    expect(made.size).toBeGreaterThan(25);
    for (const [name, { type, help }] of made) {
      expect(name).toMatch(/^reprise_[a-z_]+$/);
      expect(help.length, name).toBeGreaterThan(15);
      expect(["counter", "gauge", "histogram"], name).toContain(type);
      expect(name.endsWith("_total"), name).toBe(type === "counter");
    }
  });

  test("each is shown by a panel or watched by a rule", () => {
    const used = new Set(expressions.flatMap(({ expr }) => namesIn(expr)).map(metricOf));
    expect([...made.keys()].filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("Every expression of dashboard and rules", () => {
  test("names only metrics that there are", () => {
    const unknown = expressions.flatMap(({ where, expr }) =>
      namesIn(expr)
        .filter((name) => !made.has(metricOf(name)))
        .map((name) => `${where}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test("selects and groups by labels that those metrics have", () => {
    const wrong = expressions.flatMap(({ where, expr }) => {
      const known = new Set(
        namesIn(expr).flatMap((name) => [...(made.get(metricOf(name))?.labels ?? [])]),
      );
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) =>
        list.split(",").map((label) => label.trim()),
      );
      const selected = [...expr.matchAll(/[{,]\s*(\w+)\s*[!=]=?~?"/g)].map(
        ([, label = ""]) => label,
      );
      return [...grouped, ...selected]
        .filter((label) => !known.has(label) && !scraped.includes(label))
        .map((label) => `${where}: ${label}`);
    });
    expect(wrong).toEqual([]);
  });

  test("reads counters and buckets as rates, and gauges as they are", () => {
    const wrong = expressions.flatMap(({ where, expr }) =>
      namesIn(expr).flatMap((name) => {
        const isRate = new RegExp(`\\b(rate|increase)\\(${name}[^)]*\\[`).test(expr);
        const wants = made.get(metricOf(name))?.type !== "gauge";
        return isRate === wants ? [] : [`${where}: ${name}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("has its brackets closed", () => {
    for (const { where, expr } of expressions) {
      for (const [open, close] of ["()", "[]", "{}"] as const) {
        const count = (sign: string | undefined): number => expr.split(sign ?? "").length - 1;
        expect(count(open), where).toBe(count(close));
      }
    }
  });
});

test("Every rule says how grave it is and what happened, and compares with something", () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, labels, annotations } of rules) {
    expect(["critical", "warning", "info"], alert).toContain(labels.severity);
    expect(annotations.summary.length, alert).toBeGreaterThan(15);
    expect(expr, alert).toMatch(/ (==|>|<|>=|<=) [\d.* ]+$/);
  }
});
