/**
 * A run record as pages show it: what happened, and, apart from that, what was said.
 *
 * Pure. `outlineOf` never lets a value through (W1): it names every member that it copies. `revealedOf` is all values; who
 * calls it has written into the audit log who looks.
 */
import { type Entry, nameOf } from "@reprise/journal";
import type { RunRecord } from "@reprise/runtime";
import type { EntryOutline, RecordOutline, Revealed, RevealedValue } from "../wire.ts";

/** Entries at each end of a long journal that are shown. */
const SHOWN_AT_END = 200;
const MOST_TEXT = 16_384;

/** The record without values. */
export function outlineOf({ origin, head, entries }: RunRecord): RecordOutline {
  const { response } = head;
  return {
    status: head.status,
    method: origin.method,
    handler: { kind: origin.handler.kind, name: origin.handler.name },
    principal: origin.caller.principal,
    client: clientName(origin.client.info),
    protocolVersion: origin.client.protocolVersion,
    round: head.round,
    epoch: head.epoch,
    version: head.version,
    takeovers: head.takeovers,
    startedAt: origin.startedAt,
    updatedAt: head.updatedAt,
    expiresAt: head.expiresAt,
    answerUntil: head.stateExpiresAt,
    hasKey: origin.key !== undefined,
    keyFree: head.keyFree,
    pending: head.pending.map(({ key, wire }) => ({ key, method: wire.method })),
    open: Object.entries(head.marks).map(([step, { firstTriedAt }]) => ({
      step,
      since: firstTriedAt,
    })),
    response:
      response === undefined
        ? undefined
        : { kind: response.kind, code: response.kind === "error" ? response.code : undefined },
    entries: shown(entries).map(([entry, index]) => entryOutline(entry, index)),
    entryCount: entries.length,
  };
}

/** Values of the open questions, or of all. */
export function revealedOf({ origin, head, entries }: RunRecord, part: Revealed["part"]): Revealed {
  const questions = head.pending.flatMap(({ key, text, wire }) => [
    revealedValue(`Question ${key}`, text),
    revealedValue(`Question ${key}, as it was sent`, wire),
  ]);
  if (part === "question") return { part, values: questions };
  const { response } = head;
  return {
    part,
    values: [
      revealedValue("Request", origin.params),
      ...questions,
      ...Object.entries(head.brought).map(([key, { value }]) =>
        revealedValue(`Answer to ${key}, not yet taken`, value),
      ),
      ...shown(entries).map(([entry, index]) =>
        revealedValue(`${index + 1}. ${entry.kind} ${nameOf(entry)}`, valueIn(entry)),
      ),
      ...Object.entries(head.state).map(([key, value]) => revealedValue(`State ${key}`, value)),
      ...(response === undefined || response.kind === "question"
        ? []
        : [revealedValue("Response", response)]),
    ],
  };
}

function shown(entries: readonly Entry[]): readonly (readonly [Entry, number])[] {
  const numbered = entries.map((entry, index) => [entry, index] as const);
  if (numbered.length <= 2 * SHOWN_AT_END) return numbered;
  return [...numbered.slice(0, SHOWN_AT_END), ...numbered.slice(-SHOWN_AT_END)];
}

function entryOutline(entry: Entry, index: number): EntryOutline {
  return { index, kind: entry.kind, name: nameOf(entry), at: entry.at, outcome: outcomeOf(entry) };
}

function outcomeOf(entry: Entry): string | undefined {
  return "outcome" in entry && typeof entry.outcome === "string" ? entry.outcome : undefined;
}

/** Whatever the kind: all members but those that the outline shows. */
function valueIn(entry: Entry): unknown {
  const { kind: _kind, at: _at, ...rest } = entry;
  return "value" in rest ? rest.value : rest;
}

function revealedValue(label: string, value: unknown): RevealedValue {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return { label, text: text.slice(0, MOST_TEXT), cut: text.length > MOST_TEXT };
}

function clientName(info: unknown): string | undefined {
  const name = typeof info === "object" && info !== null && "name" in info ? info.name : undefined;
  return typeof name === "string" ? name : undefined;
}
