/** Open questions: which, of whom, since when and until when. Their words only for operators who reveal them. */

import type { RunSummary } from "@reprise/runtime";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Revealed, RunsPage } from "../src/wire.ts";
import { ApiError, base, post } from "./api.ts";
import { useLive } from "./live.ts";
import { useMe } from "./me.ts";
import { type Column, Heading, Shown, Table, When } from "./parts.tsx";
import { addressOf, Pager, RunLink } from "./runList.tsx";

const columns: readonly Column<RunSummary>[] = [
  { head: "Run", cell: (run) => <RunLink run={run} /> },
  {
    head: "Question",
    cell: ({ waiting }) =>
      (waiting?.asks ?? []).map(({ key, kind }) => (
        <div key={key}>
          <code>{key}</code> {kind}
        </div>
      )),
  },
  { head: "Caller", cell: ({ principal }) => principal },
  {
    head: "Client",
    cell: ({ client, protocolVersion }) => `${client ?? "unnamed"}, ${protocolVersion}`,
  },
  { head: "Since", cell: ({ waiting }) => <When at={waiting?.since} /> },
  { head: "Until", cell: ({ waiting }) => <When at={waiting?.until} /> },
  { head: "Words", cell: ({ runId }) => <Words runId={runId} /> },
];

/** `/ops/asks` */
export function Inbox(): VNode {
  const { query } = useLocation();
  const { cursor, order } = query;
  const isNewest = order === "newest";
  const shownOrder = isNewest ? undefined : "longest_open";
  const live = useLive<RunsPage>(
    addressOf("runs", { status: "waiting", order: shownOrder, cursor }),
  );
  const path = `${base}/asks`;
  return (
    <>
      <Heading>Open questions</Heading>
      <nav class="row" aria-label="Order">
        <a href={path} aria-current={isNewest ? undefined : "page"}>
          Open longest first
        </a>
        <a href={addressOf(path, { order: "newest" })} aria-current={isNewest ? "page" : undefined}>
          Newest change first
        </a>
      </nav>
      <Shown live={live}>
        {({ runs, next }) => (
          <>
            <Table
              label="Open questions"
              columns={columns}
              rows={runs}
              keyOf={({ runId }) => runId}
              empty="Nobody is asked anything."
            />
            <Pager
              path={path}
              query={isNewest ? { order: "newest" } : {}}
              cursor={cursor}
              next={next}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function Words({ runId }: { readonly runId: string }): VNode {
  const { role } = useMe();
  const [shown, show] = useState<string>();
  if (role !== "operator") return <span class="muted">for operators</span>;
  const reveal = async (): Promise<void> => {
    try {
      const { values } = await post<Revealed>(`runs/${runId}/reveal`, { part: "question" });
      const texts = values.filter((_, at) => at % 2 === 0).map(({ text }) => text);
      show(texts.length === 0 ? "It is not open any more." : texts.join("\n"));
    } catch (error) {
      show(error instanceof ApiError ? error.message : String(error));
    }
  };
  return (
    <div aria-live="polite">
      {shown ?? (
        <button type="button" class="outline secondary" onClick={() => void reveal()}>
          Reveal<span class="hidden-words"> the words of {runId}</span>
        </button>
      )}
    </div>
  );
}
