/**
 * Makes text that somebody else wrote safe to show on a terminal.
 *
 * Called for every string of a server before it is printed. A server's words could otherwise move the cursor,
 * recolour or erase the lines that name the server, or set the clipboard (OSC 52); bidirectional and invisible
 * characters could make "no" read as "yes". Nothing is dropped: what is not shown as itself is shown as its code,
 * so that the reader sees that something was there. It never shortens: a gate that hides words is no gate.
 */

// C0 (but tab and newline, handled by the caller's choice), DEL and C1, line and paragraph separators, bidi controls and
// marks, zero-width and other format characters, tag characters, variation selectors supplement, lone surrogates.
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{e0000}-\u{e0fff}]|\u{34f}/gu;

const code = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** One line: newlines and tabs are shown as codes too. */
export function printableLine(text: string): string {
  return text.replace(UNSAFE, code);
}

/** Several lines: newlines (also CRLF) and tabs stay, all other control characters are shown as codes. */
export function printableText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSAFE, (character) =>
      character === "\n" || character === "\t" ? character : code(character),
    );
}

/**
 * Several lines, each behind a bar. Without the bar a server's text could imitate this program's own prompts
 * ("Answer sent. Type your password:") on a line of its own.
 */
export function quoted(text: string, indent = "  "): string {
  return printableText(text)
    .split("\n")
    .map((line) => `${indent}│ ${line}`)
    .join("\n");
}
