/**
 * Log lines for people, in `reprise dev`: one line a message, then its fields; an error with its stack below.
 *
 * Takes pino's JSON lines. A line that is none is passed on as it is.
 */
import { writeSync } from "node:fs";

const levels: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};
/** Said in front, or of no use to whoever looks at one process. */
const left = new Set(["level", "time", "msg", "pid", "hostname", "err"]);

/** Where pino writes to. @param write default: stderr */
export function readableLog(write: (text: string) => void = (text) => void writeSync(2, text)): {
  write(line: string): void;
} {
  return { write: (line) => write(`${readable(line.trimEnd())}\n`) };
}

function readable(line: string): string {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return line;
  }
  const { level, time, msg, err } = fields;
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const facts = Object.entries(fields)
    .filter(([name]) => !left.has(name))
    .map(
      ([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
  const word = (levels[Number(level)] ?? "log").padEnd(5);
  return `${at} ${word} ${typeof msg === "string" ? msg : ""}${facts.join("")}${stackOf(err)}`;
}

function stackOf(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  const { stack, message } = err as { stack?: unknown; message?: unknown };
  const text = [stack, message].find((one) => typeof one === "string") ?? "";
  return text === "" ? "" : `\n  ${text.replaceAll("\n", "\n  ")}`;
}
