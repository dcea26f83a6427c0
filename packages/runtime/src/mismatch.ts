/**
 * A journal mismatch in words: what is recorded, what was asked instead, both versions, and what to do.
 */
import { RepriseError } from "@reprise/errors";
import { type Mismatch, nameOf, operationOf } from "@reprise/journal";

/** The coded error of a mismatch (docs/design.md 3.2). */
export function mismatchError(
  mismatch: Mismatch,
  handler: string,
  versions: { readonly recorded: string; readonly now: string },
): RepriseError {
  const { entry, asked, index, reason } = mismatch;
  const found = `${operationOf(entry)} "${nameOf(entry)}"`;
  const instead =
    asked.length === 0
      ? "asked for nothing else"
      : `asked for ${asked.map((one) => `${one.kind} "${one.name}"`).join(", ")}`;
  const what =
    reason === "question"
      ? `was answered with another question under that key`
      : `is recorded at entry ${index}, but the handler ${reason === "settled" ? "ended without it and " : ""}${instead}`;
  return new RepriseError(
    "JOURNAL_MISMATCH",
    `${handler} does not fit its journal: ${found} ${what}. Recorded by version ${versions.recorded}, executed by ${versions.now}. Deploy the recorded version, keep the name, or release the run.`,
    {
      data: {
        entry: { kind: operationOf(entry), name: nameOf(entry), index },
        asked: asked.map((one) => ({ ...one })),
        versions,
        retryAfterMs: 1000,
      },
    },
  );
}
