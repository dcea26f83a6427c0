/**
 * Choices at a terminal: every gate's last question goes through here.
 *
 * Called by the terminal gates. An empty line is never a choice, and a word must be given as offered; so no key that a
 * person leans on accepts anything. Where a call can't wait (handshake era), "later" is not on offer.
 */
import type { Console } from "./console.ts";
import type { AskContext } from "./host.ts";

/** What the terminal gates need to know of a question's circumstances. */
export type Asked = Pick<AskContext, "signal" | "canWait">;

/** Words to type, the first being the one that is shown, and what they stand for. Without words it is not on offer. */
export type Choices<T extends string> = Readonly<Record<T, readonly string[]>>;

/**
 * Asks until one of the choices is given; undefined at the end of input. Only the choice named by `naming` may be followed by more
 * words, which come back as `rest`: "send nothing" must not send.
 */
export async function choose<T extends string>(
  console: Console,
  choices: Choices<T>,
  { signal, canWait }: Asked,
  naming?: NoInfer<T>,
): Promise<{ readonly choice: T; readonly rest: string } | undefined> {
  const given = Object.entries<readonly string[]>(choices) as [T, readonly string[]][];
  const entries = given.map(
    ([choice, words]) => [choice, words.filter((word) => canWait || word !== "later")] as const,
  );
  const shown = entries.flatMap(([, words]) => words[0] ?? []).join(" / ");
  for (;;) {
    const line = await console.ask(`  ${shown} > `, signal);
    if (line === undefined) return undefined;
    const [word = "", ...others] = line.trim().split(/\s+/);
    const rest = others.join(" ");
    const found = entries.find(
      ([choice, words]) => words.includes(word.toLowerCase()) && (rest === "" || choice === naming),
    );
    if (found !== undefined) return { choice: found[0], rest };
    console.say(`  ${word === "" ? "Nothing was chosen. " : ""}Type one of: ${shown}`);
  }
}
