/**
 * The names of one attempt: which its handler has used, and which it still owes.
 *
 * N1 A name is used once in a run. Steps and reads share theirs, asks have their own.
 * N2 A step that an earlier attempt announced and nobody recorded is owed: it may have happened. No other live step starts
 *    before the handler has asked for it, so that one that was renamed meanwhile can't happen under both names
 *    (docs/design.md 3.2). Not owed is what came behind a failure that runs again: the handler may go another way there.
 */
import { RepriseError } from "@reprise/errors";

/** The names of one attempt. */
export class OperationNames {
  readonly #used = new Set<string>();
  /** Undefined: none was. */
  readonly #owed: Set<string> | undefined;

  /** @param owed steps of earlier attempts that may have happened */
  constructor(owed: readonly string[]) {
    this.#owed = owed.length === 0 ? undefined : new Set(owed);
  }

  /** A step in doubt that the handler has not asked for yet. */
  get owed(): string | undefined {
    return this.#owed?.values().next().value;
  }

  /**
   * Takes a name for its one use.
   * @throws RepriseError NAME_REUSED
   */
  claim(kind: "step" | "read" | "ask", name: string, hint: string): void {
    if (typeof name !== "string" || name === "") {
      throw new RepriseError("NAME_REUSED", `a ${kind} needs a name, a text that is not empty`);
    }
    // Steps and reads share their names: a report that says "load order" must mean one thing.
    const space = kind === "ask" ? "ask" : "operation";
    if (this.#used.has(`${space} ${name}`)) {
      throw new RepriseError("NAME_REUSED", `${kind} "${name}" is used twice in one run; ${hint}`, {
        data: { kind, name },
      });
    }
    this.#used.add(`${space} ${name}`);
    if (kind === "step") this.#owed?.delete(name);
  }
}
