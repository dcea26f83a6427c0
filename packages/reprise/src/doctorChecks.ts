/**
 * What `reprise doctor` looks at, one function a subject. Each gives findings that end with what to do.
 *
 * Nothing here changes anything. A check that can't look says so as a finding: a doctor that fails tells nothing of the rest.
 */
import { isRepriseError } from "@reprise/errors";
import type { RingKeyListing } from "@reprise/request-state";
import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import type { HistoryCounts, InstanceInfo, ServerDefinition, StoreHealth } from "@reprise/runtime";
import { createRuntime } from "@reprise/runtime";
import { keylessStepTools } from "./effectsTable.ts";

/** `serious`: runs are lost, refused or open to forgery. `warning`: will be, or may be. */
type Severity = "ok" | "warning" | "serious";

/** One finding. */
export interface Finding {
  readonly subject: string;
  readonly severity: Severity;
  /** A sentence; of a warning or a serious one with what to do. */
  readonly text: string;
}

const DAY_MS = 86_400_000;

/** The Redis, as `connectRedis` has found it. */
export function redisFindings(durability: string, warnings: readonly string[]): readonly Finding[] {
  const found: Finding[] = warnings.map((text) => ({
    subject: "redis",
    severity: "warning",
    text,
  }));
  const survives = {
    always: "an acknowledged write survives any crash of Redis",
    everysec: "a crash of Redis may lose the last second; set appendfsync always for money",
  }[durability];
  if (survives !== undefined)
    found.push({
      subject: "redis",
      severity: "ok",
      text: `durability ${durability}: ${survives}.`,
    });
  return found;
}

/** What could not be reached or used. */
export function failureFinding(subject: string, error: unknown): Finding {
  const text = isRepriseError(error)
    ? `${error.code}: ${error.message}`
    : error instanceof Error
      ? error.message
      : String(error);
  return { subject, severity: "serious", text };
}

/** Whether the store takes writes. */
export function healthFindings(health: StoreHealth): readonly Finding[] {
  return health.ok
    ? [{ subject: "store", severity: "ok", text: "The store takes writes." }]
    : [
        {
          subject: "store",
          severity: "serious",
          text: `The store takes no new runs: ${health.reason ?? "no reason given"}.`,
        },
      ];
}

/** The ring of keys. */
export function keyFindings(keys: readonly RingKeyListing[], now: number): readonly Finding[] {
  const living = keys.filter((key) => key.revokedAtMs === undefined);
  if (living.length === 0) {
    const text =
      "The ring has no keys: no instance without requestStateKey is or was running here.";
    return [{ subject: "keys", severity: "warning", text }];
  }
  const found: Finding[] = [];
  const open = living.filter((key) => key.wrapped === false).length;
  if (open > 0) {
    const text = `${open} of ${living.length} keys lie readable in Redis, and whoever reads it can forge states; set keyEncryptionKey for all instances.`;
    found.push({ subject: "keys", severity: "warning", text });
  }
  const sealing = living.filter(({ sealsUntilMs = 0 }) => sealsUntilMs > now);
  if (sealing.length === 0) {
    const text =
      "No key seals any more: every instance that made one is gone or can't write to the ring; start one, or look at its log.";
    found.push({ subject: "keys", severity: "warning", text });
  }
  const oldest = Math.min(...sealing.map(({ createdAtMs = now }) => createdAtMs));
  if (sealing.length > 0) {
    const days = ((now - oldest) / DAY_MS).toFixed(1);
    const text = `${sealing.length} keys seal, the oldest for ${days} days; ${living.length - sealing.length} more open what they sealed.`;
    found.push({ subject: "keys", severity: "ok", text });
  }
  return found;
}

/** Who is there. */
export function instanceFindings(instances: readonly InstanceInfo[]): readonly Finding[] {
  if (instances.length === 0) {
    const text =
      "No instance has said that it lives within the last minute; start fronts and workers.";
    return [{ subject: "instances", severity: "warning", text }];
  }
  const found: Finding[] = [];
  const counts = (["embedded", "front", "worker"] as const)
    .map((role) => ({ role, count: instances.filter((one) => one.role === role).length }))
    .filter(({ count }) => count > 0);
  const text = counts.map(({ role, count }) => `${count} ${role}`).join(", ");
  found.push({ subject: "instances", severity: "ok", text: `There are ${text}.` });
  const has = (role: string): boolean => counts.some((one) => one.role === role);
  if (has("front") && !has("worker")) {
    const lack = "There are fronts but no worker: calls wait until one is started.";
    found.push({ subject: "instances", severity: "serious", text: lack });
  }
  const versions = new Set(instances.map(({ version }) => version));
  if (versions.size > 1) {
    const several = `Instances run ${versions.size} versions (${[...versions].toSorted().join(", ")}): right during a deploy, else finish it.`;
    found.push({ subject: "instances", severity: "warning", text: several });
  }
  return found;
}

/** What waits for somebody. */
export function runFindings({ byStatus }: HistoryCounts): readonly Finding[] {
  const count = byStatus.attention ?? 0;
  if (count === 0)
    return [{ subject: "runs", severity: "ok", text: "No run needs anybody's attention." }];
  const text = `${count} runs need attention; see them: reprise runs list --status attention`;
  return [{ subject: "runs", severity: "warning", text }];
}

/** The definition that is served. */
export async function definitionFindings(server: ServerDefinition): Promise<readonly Finding[]> {
  const runtime = createRuntime({
    server,
    store: "none",
    sealer: createStateSealer({ keys: ephemeralKeys() }),
    sweep: false,
  });
  try {
    const names = keylessStepTools(server, runtime.wholeCatalog);
    if (names.length === 0)
      return [{ subject: "tools", severity: "ok", text: "Every tool with steps has a key." }];
    const text = `A first call that is sent twice runs twice: ${names.join(", ")}; give each an idempotency key.`;
    return [{ subject: "tools", severity: "warning", text }];
  } finally {
    await runtime.close();
  }
}

/** A front by its URL. */
export async function frontFindings(url: string): Promise<readonly Finding[]> {
  const subject = `front ${url}`;
  if (!URL.canParse(url)) return [{ subject, severity: "serious", text: "That is no URL." }];
  try {
    const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(5_000) });
    if (response.ok) return [{ subject, severity: "ok", text: "It is ready." }];
    const reason = (await response.text()).slice(0, 300);
    const text = `It is not ready (HTTP ${response.status}): ${reason}; its log says more.`;
    return [{ subject, severity: "serious", text }];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const text = `It can't be reached (${reason}): is it running, and does it listen on that address?`;
    return [{ subject, severity: "serious", text }];
  }
}
