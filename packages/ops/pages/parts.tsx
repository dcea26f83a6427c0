// biome-ignore-all lint/a11y/noRedundantRoles: on a phone the table's parts are laid out as blocks, which takes their roles away in some browsers
/**
 * What all pages are made of: states, times, tables. Plain elements that Pico styles.
 */

import type { Attention } from "@reprise/runtime";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "./api.ts";
import type { Live } from "./live.ts";

const tones: Readonly<Record<string, "good" | "bad" | "warn">> = {
  completed: "good",
  waiting: "warn",
  failed: "bad",
  interrupted: "bad",
  mismatched: "bad",
  parked: "bad",
  uncertain: "bad",
  failed_undo: "bad",
  revoked: "bad",
  sealing: "good",
};

/** A status or attention, in words; the colour only repeats them. */
export function Status({ of }: { readonly of: string }): VNode {
  return <span class={`status ${tones[of] ?? ""}`}>{of.replaceAll("_", " ")}</span>;
}

/** Why somebody should look. */
export const attentionWords: Readonly<Record<Attention, string>> = {
  interrupted: "An attempt was stopped, and nobody has come again.",
  mismatched: "The handler no longer does what the journal says it did.",
  parked: "Nothing goes on with it before an operator says so.",
  uncertain: "A step may or may not have happened: ask the remote system.",
  failed_undo: "A step could not be undone.",
};

/** `3 min`; for lengths of time in milliseconds. */
export function lengthText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 100) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 100) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}

/**
 * How long ago, or in how long; the exact time is its title and is read out by machines. `isExact` writes it out as well: a touch
 * screen shows no titles, and what happened to a run is compared with other logs.
 */
export function When({
  at,
  isExact = false,
}: {
  readonly at: number | undefined;
  readonly isExact?: boolean;
}): VNode {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((turn) => turn + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  if (at === undefined || at <= 0 || at > 8.64e15) return <span>-</span>;
  const away = at - Date.now();
  const text = away > 0 ? `in ${lengthText(away)}` : `${lengthText(-away)} ago`;
  const exact = new Date(at);
  return (
    <time dateTime={exact.toISOString()} title={exact.toLocaleString()}>
      {text}
      {isExact && ` (${exact.toLocaleString()})`}
    </time>
  );
}

/**
 * The head of a page: sets the window's title and takes the focus when the page was changed by a link. `about` stands before it in the
 * title, so that windows on several of a kind are told apart.
 */
export function Heading({
  children,
  about,
}: {
  readonly children: string;
  readonly about?: string | undefined;
}): VNode {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement?.tagName === "A") head.current?.focus();
  }, [children]);
  useEffect(() => {
    document.title = `${about === undefined ? "" : `${about} - `}${children} - Reprise`;
  }, [children, about]);
  return (
    <h1 ref={head} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** Why something can't be shown. */
export function Failure({
  error,
  readAt,
}: {
  readonly error: ApiError;
  readonly readAt?: number;
}): VNode {
  const old =
    readAt === undefined || readAt === 0
      ? ""
      : ` What you see is from ${new Date(readAt).toLocaleTimeString()}.`;
  const hint =
    error.code === "STORE_UNAVAILABLE" || error.code === "UNREACHABLE"
      ? " It is tried again by itself."
      : "";
  return (
    <p class="notice bad" role="alert">
      {error.message}
      {old}
      {hint} <code>{error.code}</code>
    </p>
  );
}

/** Shows what was read, or that it is being read, or why it can't be. */
export function Shown<T>({
  live,
  children,
}: {
  readonly live: Live<T>;
  readonly children: (data: T) => ComponentChildren;
}): VNode {
  const { data, error, readAt } = live;
  return (
    <>
      {error !== undefined && <Failure error={error} readAt={readAt} />}
      {data === undefined ? error === undefined && <p aria-busy="true">Reading</p> : children(data)}
    </>
  );
}

/** A column: its head, and what stands in it. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
}

/** A table that is a list of cards on a phone. The first column names the row. Roles are said: the cards' layout would hide them. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  empty,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
}): VNode {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <table role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head }) => (
            <th key={head} role="columnheader" scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ head, cell }, at) =>
              at === 0 ? (
                <th key={head} role="rowheader" scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={head} role="cell" data-label={head}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A number with thousands apart. */
export function count(value: number | undefined): string {
  return (value ?? 0).toLocaleString("en");
}

/** Bytes in the unit that reads best. */
export function bytesText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}
