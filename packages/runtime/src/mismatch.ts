/**
 * A journal mismatch in words: what is recorded, what was asked instead, both versions, and what to do.
 */
import { RepriseError } from "@reprise/errors";
import { type Entry, type Mismatch, nameOf, type Operation, operationOf } from "@reprise/journal";

type Asked = Pick<Operation, "kind" | "name">;

/** What of a run's record the handler can't be reconciled with. */
export interface Misfit extends Asked {
  /** Where in the journal. */
  readonly index: number;
  /** What the handler asked for instead. */
  readonly asked: readonly Asked[];
  /** As of the journal's `Mismatch`; `owed`: the step may have happened without an entry. */
  readonly reason: string;
  readonly isOwed: boolean;
}

/** An entry that does not fit. */
export function misfitOf({ entry, index, asked, reason }: Mismatch): Misfit {
  return { kind: operationOf(entry), name: nameOf(entry), index, asked, reason, isOwed: false };
}

/** A step that an earlier attempt announced and that the handler does not come to. */
export function owedMisfit(
  name: string,
  index: number,
  waiting: readonly Asked[],
  reason: "settled" | "stalled",
): Misfit {
  const asked = waiting.map((one) => ({ kind: one.kind, name: one.name }));
  return { kind: "step", name, index, asked, reason, isOwed: true };
}

/** A step that is to be undone and has no undo function any more. */
export function undoMisfit(name: string, entries: readonly Entry[]): Misfit {
  const at = entries.findIndex((entry) => operationOf(entry) === "step" && nameOf(entry) === name);
  const index = at === -1 ? entries.length : at;
  return { kind: "step", name, index, asked: [], reason: "undo", isOwed: at === -1 };
}

/** The coded error of a mismatch (docs/design.md 3.2). */
export function mismatchError(
  misfit: Misfit,
  handler: string,
  versions: { readonly recorded: string; readonly now: string },
): RepriseError {
  const { kind, name, index, asked } = misfit;
  return new RepriseError(
    "JOURNAL_MISMATCH",
    `${handler} does not fit its journal: ${kind} "${name}" ${whatOf(misfit)}. Recorded by version ${versions.recorded}, executed by ${versions.now}. Deploy the recorded version, keep the name, or release the run.`,
    {
      data: {
        entry: { kind, name, index },
        asked: asked.map((one) => ({ ...one })),
        versions,
        retryAfterMs: 1000,
      },
    },
  );
}

function whatOf({ asked, index, reason, isOwed }: Misfit): string {
  if (reason === "question") return "was answered with another question under that key";
  if (reason === "undo") return "is to be undone, but the handler has no undo function for it";
  const instead =
    asked.length === 0
      ? "asked for nothing else"
      : `asked for ${asked.map((one) => `${one.kind} "${one.name}"`).join(", ")}`;
  const found = isOwed
    ? "was started by an earlier attempt and may have happened"
    : `is recorded at entry ${index}`;
  return `${found}, but the handler ${reason === "settled" ? "ended without it and " : ""}${instead}`;
}
