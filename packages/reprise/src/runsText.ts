/**
 * Runs as a terminal shows them: a table of rows, one run with its timeline. Values only where they are asked for.
 *
 * Called by `runsCommand.ts`. Names come from a database that others can write: no control character reaches the terminal.
 */
import type { RunEvent, RunRecord, RunSummary } from "@reprise/runtime";

const columns = ["RUN", "STATUS", "HANDLER", "CALLER", "UPDATED", "WAITS FOR", "LOOK AT"];

/** Rows of a list. */
export function runsTable(runs: readonly RunSummary[]): string {
  if (runs.length === 0) return "No runs.";
  const rows = [columns, ...runs.map(cellsOf)];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return rows.map((row) => lineOf(row).trimEnd()).join("\n");
}

function cellsOf(run: RunSummary): readonly string[] {
  const asks = run.waiting?.asks.map(({ key }) => key).join(", ") ?? "";
  const until = run.waiting === undefined ? "" : ` until ${timeText(run.waiting.until)}`;
  return [
    printable(run.runId),
    run.status,
    printable(run.handler.name),
    printable(run.principal),
    timeText(run.updatedAt),
    printable(asks) + until,
    run.attention ?? "",
  ];
}

/** One run. */
export function runText(
  record: RunRecord | undefined,
  summary: RunSummary | undefined,
  timeline: readonly RunEvent[],
  reveal: boolean,
): string {
  const lines: string[] = [];
  const line = (name: string, value: string): void => {
    lines.push(`${`${name}:`.padEnd(12)} ${printable(value)}`);
  };
  if (record === undefined) {
    line("run", summary?.runId ?? "");
    line("record", "gone; what follows is history");
    if (summary !== undefined) line("status", `${summary.status}, as it was told last`);
  } else {
    const { origin, head } = record;
    line("run", origin.runId);
    line("status", `${head.status}, round ${head.round}, attempt ${head.epoch}`);
    line("handler", `${origin.handler.kind} ${origin.handler.name}, version ${head.version}`);
    line("caller", origin.caller.principal);
    line("started", timeText(origin.startedAt));
    line("updated", timeText(head.updatedAt));
    line("kept until", timeText(head.expiresAt));
    for (const ask of head.pending) {
      const words = reveal ? `: ${ask.text}` : "";
      line("waits for", `${ask.key} until ${timeText(head.stateExpiresAt)}${words}`);
    }
    record.entries.forEach((entry, index) => {
      const name = entry.kind === "answer_taken" ? entry.key : entry.name;
      const value = reveal ? ` ${JSON.stringify(entry)}` : "";
      line(`entry ${index}`, `${entry.kind} ${name}${value}`);
    });
    if (reveal) {
      line("arguments", JSON.stringify(origin.params));
      line("response", JSON.stringify(head.response ?? null));
    } else lines.push("(values are hidden; --reveal shows them)");
  }
  if (timeline.length > 0) lines.push("", ...timeline.map(eventText));
  return lines.join("\n");
}

function eventText(event: RunEvent): string {
  const about = `${timeText(event.at)}  round ${event.round} attempt ${event.epoch}  ${event.type}`;
  return printable(`${about}  ${detailOf(event)}`.trimEnd());
}

function detailOf(event: RunEvent): string {
  switch (event.type) {
    case "attempt_started":
      return `${event.cause} on ${event.instance}`;
    case "step_started":
      return `${event.undo ? "undo of " : ""}${event.step}, try ${event.try}`;
    case "step_ended":
      return `${event.undo ? "undo of " : ""}${event.step} ${event.outcome} after ${Math.round(event.durationMs)} ms`;
    case "asked":
      return event.asks.map(({ key }) => key).join(", ");
    case "answered":
      return `${event.key} ${event.action} after ${Math.round(event.waitedMs)} ms`;
    case "attempt_ended":
      return `${event.outcome} ${event.code ?? ""} after ${Math.round(event.durationMs)} ms`;
    case "replayed":
      return event.status;
    case "acted":
      return `${event.action}: ${event.status}`;
  }
}

function timeText(ms: number): string {
  // Beyond what a Date can hold: only someone who writes into the store by hand gets there.
  return Math.abs(ms) > 8.64e15 ? "" : new Date(ms).toISOString();
}

function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, "?");
}
