/**
 * Which known name somebody probably meant. For messages only; nothing is ever taken for what it resembles.
 */

/** The known name with the fewest edits, if that is at most a third of its length. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, edits: editsBetween(name, candidate) }))
    .filter(({ candidate, edits }) => edits <= candidate.length / 3)
    .toSorted((left, right) => left.edits - right.edits);
  return best?.candidate;
}

/** Insertions, deletions and substitutions (Levenshtein). */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, place) => place);
  for (const [above, letter] of [...left].entries()) {
    const next = [above + 1];
    for (const [place, other] of [...right].entries()) {
      const substituted = (row[place] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(substituted, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
