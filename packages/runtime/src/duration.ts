/**
 * Durations as authors and operators write them: milliseconds, or a number with a unit.
 */
import { RepriseError } from "@reprise/errors";
import type { Duration } from "./definition.ts";

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Milliseconds of a duration.
 * @param option the option's name, quoted by the error
 * @throws RepriseError CONFIG_INVALID when it is no positive, finite duration
 */
export function durationMs(value: Duration, option: string): number {
  const ms = typeof value === "number" ? value : parse(value);
  if (!Number.isFinite(ms) || ms <= 0) {
    throw new RepriseError(
      "CONFIG_INVALID",
      `${option} is ${JSON.stringify(value)}; give milliseconds above 0, or a text such as "30s", "10m" or "24h"`,
      { data: { option } },
    );
  }
  return Math.round(ms);
}

function parse(text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim());
  const unit = unitMs[found?.[2] ?? ""];
  return unit === undefined ? Number.NaN : Number(found?.[1]) * unit;
}
