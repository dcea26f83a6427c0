/** What was told of a run, attempt by attempt; and the outline of its journal. No value is in either. */

import type { RunEvent } from "@reprise/runtime";
import type { ComponentChildren, VNode } from "preact";
import type { EntryOutline, RecordOutline } from "../src/wire.ts";
import { type Column, lengthText, Status, Table, When } from "./parts.tsx";

const causes: Readonly<Record<string, string>> = {
  call: "the call",
  answer: "an answer",
  again: "the same request again",
  takeover: "take-over of a dead attempt",
  sweep: "the sweep",
  operator: "an operator",
  undo: "undo",
};

interface Group {
  readonly epoch: number;
  readonly events: readonly RunEvent[];
}

/** Events of one epoch together, in the order in which they came. */
function grouped(events: readonly RunEvent[]): readonly Group[] {
  const groups: { epoch: number; events: RunEvent[] }[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    // What is told without an attempt, such as a replay, stands alone.
    const isOutside = event.type === "replayed" || event.type === "acted";
    const isOwn =
      last !== undefined && last.epoch === event.epoch && event.type !== "attempt_started";
    if (isOwn && !isOutside) last.events.push(event);
    else groups.push({ epoch: isOutside ? -1 : event.epoch, events: [event] });
  }
  return groups;
}

/** The whole of it. */
export function Timeline({ events }: { readonly events: readonly RunEvent[] }): VNode {
  if (events.length === 0) return <p class="empty">Nothing was told of it in the last days.</p>;
  return (
    <ol class="timeline">
      {grouped(events).map((group, at) => (
        <li key={at}>
          <Attempt {...group} />
        </li>
      ))}
    </ol>
  );
}

function Attempt({ events }: Group): VNode {
  const [first] = events;
  if (first === undefined) return <p class="empty">Nothing.</p>;
  const end = events.find((event) => event.type === "attempt_ended");
  const inner = events.filter(({ type }) => type !== "attempt_started" && type !== "attempt_ended");
  if (first.type === "replayed" || first.type === "acted") {
    return (
      <>
        <h3>
          {first.type === "replayed" ? "Answered from the record" : `${first.action} from outside`}
        </h3>
        <p>
          <When at={first.at} isExact />; it was {first.status} then. Instance {first.instance}
        </p>
      </>
    );
  }
  return (
    <>
      <h3>
        Round {first.round}, attempt {first.epoch}{" "}
        {end?.type === "attempt_ended" && <Status of={end.outcome} />}{" "}
        {end?.type === "attempt_ended" && end.code !== undefined && <code>{end.code}</code>}
      </h3>
      <p>
        <When at={first.at} isExact />
        {first.type === "attempt_started" && `; begun by ${causes[first.cause] ?? first.cause}`}
        {first.type === "attempt_started" &&
          first.queuedMs !== undefined &&
          `, ${lengthText(first.queuedMs)} in the queue`}
        {end?.type === "attempt_ended" && `, took ${lengthText(end.durationMs)}`}. Worker{" "}
        {first.instance}, version {first.version}
      </p>
      {inner.length > 0 && (
        <ul>
          {inner.map((event, at) => (
            <li key={at}>{words(event)}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function words(event: RunEvent): ComponentChildren {
  switch (event.type) {
    case "step_started":
      return (
        <>
          <span>{event.undo ? "Undo of step" : "Step"}</span> <code>{event.step}</code>{" "}
          <span>started{event.try > 1 ? `, try ${event.try}` : ""}</span>
        </>
      );
    case "step_ended":
      return (
        <>
          <span>{event.undo ? "Undo of step" : "Step"}</span> <code>{event.step}</code>{" "}
          <Status of={event.outcome} />
          <span>
            {lengthText(event.durationMs)}
            {event.tries > 1 ? `, ${event.tries} tries` : ""}
          </span>
        </>
      );
    case "asked":
      return (
        <>
          <span>Asked</span>
          {event.asks.map(({ key, kind }) => (
            <span key={key}>
              <code>{key}</code> {kind}
            </span>
          ))}
          <span>
            answer until <When at={event.until} />
          </span>
        </>
      );
    case "answered":
      return (
        <>
          <span>Answer to</span> <code>{event.key}</code> <span>{event.kind}</span>{" "}
          <Status of={event.action} />
          <span>after {lengthText(event.waitedMs)}</span>
        </>
      );
    default:
      return event.type;
  }
}

const columns: readonly Column<EntryOutline>[] = [
  { head: "No.", cell: ({ index }) => index + 1 },
  { head: "Entry", cell: ({ kind }) => kind.replaceAll("_", " ") },
  { head: "Name", cell: ({ name }) => <code>{name}</code> },
  {
    head: "Outcome",
    cell: ({ outcome }) => (outcome === undefined ? "" : <Status of={outcome} />),
  },
  { head: "At", cell: ({ at }) => <When at={at} isExact /> },
];

/** What the record holds, without values. */
export function Journal({ record }: { readonly record: RecordOutline }): VNode {
  const { entries, entryCount, pending } = record;
  return (
    <>
      <h2>Journal</h2>
      {pending.length > 0 && (
        <p>
          Open questions:{" "}
          {pending.map(({ key, method }) => (
            <span key={key}>
              <code>{key}</code> {method}{" "}
            </span>
          ))}
        </p>
      )}
      {entryCount > entries.length && (
        <p class="muted">The first and the last of {entryCount} entries.</p>
      )}
      <Table
        label="Journal"
        columns={columns}
        rows={entries}
        keyOf={({ index }) => String(index)}
        empty="No step, read or answer is recorded."
      />
    </>
  );
}
