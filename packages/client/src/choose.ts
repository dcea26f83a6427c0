/**
 * Choices at a terminal: every gate's last question goes through here.
 *
 * Called by the terminal gates. An empty line is never a choice, and a word must be given as offered; so no key that a
 * person leans on accepts anything.
 */
import type { Console } from "./console.ts";

/** Words to type, the first being the one that is shown, and what they stand for. Without words it is not on offer. */
export type Choices<T extends string> = Readonly<Record<T, readonly string[]>>;

/** Asks until one of the choices is given; undefined at the end of input. What follows the word is `rest`. */
export async function choose<T extends string>(
  console: Console,
  choices: Choices<T>,
  signal: AbortSignal,
): Promise<{ readonly choice: T; readonly rest: string } | undefined> {
  const entries = Object.entries<readonly string[]>(choices) as [T, readonly string[]][];
  const shown = entries.flatMap(([, words]) => words[0] ?? []).join(" / ");
  for (;;) {
    const line = await console.ask(`  ${shown} > `, signal);
    if (line === undefined) return undefined;
    const [word = "", ...rest] = line.trim().split(/\s+/);
    const found = entries.find(([, words]) => words.includes(word.toLowerCase()));
    if (found !== undefined) return { choice: found[0], rest: rest.join(" ") };
    console.say(
      word === "" ? `  Nothing was chosen. Type one of: ${shown}` : `  Type one of: ${shown}`,
    );
  }
}
