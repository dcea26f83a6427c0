/** What lists of runs share: the link to a run, and the pages of a list. */

import type { RunSummary } from "@reprise/runtime";
import type { VNode } from "preact";
import { base } from "./api.ts";

/** Handler and id. */
export function RunLink({ run }: { readonly run: Pick<RunSummary, "runId" | "handler"> }): VNode {
  const { runId, handler } = run;
  return (
    <>
      {handler.name}
      <br />
      <a href={`${base}/runs/${runId}`}>
        <code>{runId.length > 28 ? `${runId.slice(0, 12)}...${runId.slice(-12)}` : runId}</code>
        <span class="hidden-words"> of {handler.name}</span>
      </a>
    </>
  );
}

/** An address with a query, without what is empty. */
export function addressOf(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "",
  );
  const text = new URLSearchParams(given).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The first page and the next one. */
export function Pager({
  path,
  query,
  cursor,
  next,
}: {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly cursor: string | undefined;
  readonly next: string | undefined;
}): VNode | null {
  if (cursor === undefined && next === undefined) return null;
  return (
    <nav class="row" aria-label="Pages of the list">
      {cursor !== undefined && <a href={addressOf(path, query)}>First page</a>}
      {next !== undefined && <a href={addressOf(path, { ...query, cursor: next })}>Next page</a>}
    </nav>
  );
}
