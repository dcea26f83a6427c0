/** Lists of runs by filter; `/ops/attention` is the one of those that somebody should look at. */

import type { RunSummary } from "@reprise/runtime";
import type { VNode } from "preact";
import { useLocation } from "preact-iso";
import type { RunsPage } from "../src/wire.ts";
import { base, textOf } from "./api.ts";
import { CancelMany } from "./cancelMany.tsx";
import { useLive } from "./live.ts";
import { attentionWords, type Column, Heading, Shown, Status, Table, When } from "./parts.tsx";
import { addressOf, Pager, RunLink } from "./runList.tsx";

const statuses = [
  "running",
  "waiting",
  "completed",
  "failed",
  "interrupted",
  "mismatched",
  "parked",
  "cancelled",
  "undone",
];

const columns: readonly Column<RunSummary>[] = [
  { head: "Run", cell: (run) => <RunLink run={run} /> },
  {
    head: "Status",
    cell: ({ status, attention, code }) => (
      <>
        <Status of={status} />{" "}
        {attention !== undefined && attention !== status && <Status of={attention} />}
        {code !== undefined && <code>{code}</code>}
      </>
    ),
  },
  { head: "Caller", cell: ({ principal }) => principal },
  {
    head: "Client",
    cell: ({ client, protocolVersion }) => `${client ?? "unnamed"}, ${protocolVersion}`,
  },
  { head: "Round", cell: ({ round }) => round },
  { head: "Version", cell: ({ version }) => version },
  { head: "Started", cell: ({ startedAt }) => <When at={startedAt} /> },
  { head: "Changed", cell: ({ updatedAt }) => <When at={updatedAt} /> },
];

const why: Column<RunSummary> = {
  head: "Why",
  cell: ({ attention }) => (attention === undefined ? "" : attentionWords[attention]),
};

/** `/ops/runs` and `/ops/attention` */
export function Runs(): VNode {
  const { path, query } = useLocation();
  const isAttention = path.endsWith("/attention");
  const { cursor, ...rest } = query as Readonly<Record<string, string>>;
  const filter = isAttention ? { ...rest, status: "attention" } : rest;
  const live = useLive<RunsPage>(addressOf("runs", { ...filter, cursor }));
  const own = isAttention ? `${base}/attention` : `${base}/runs`;
  return (
    <>
      <Heading>{isAttention ? "Needs attention" : "Runs"}</Heading>
      <Filter path={own} query={rest} hasStatus={!isAttention} />
      <Shown live={live}>
        {({ runs, next }) => (
          <>
            <CancelMany filter={filter} shown={runs.length} onDone={live.reload} />
            <Table
              label="Runs"
              columns={isAttention ? columns.toSpliced(2, 0, why) : columns}
              rows={runs}
              keyOf={({ runId }) => runId}
              empty={
                next === undefined
                  ? isAttention
                    ? "Nothing needs attention."
                    : "No run fits."
                  : "No run on this page fits; older ones may."
              }
            />
            <Pager path={own} query={rest} cursor={cursor} next={next} />
          </>
        )}
      </Shown>
    </>
  );
}

function Filter({
  path,
  query,
  hasStatus,
}: {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly hasStatus: boolean;
}): VNode {
  const { route } = useLocation();
  const submit = (form: HTMLFormElement): void => {
    const data = new FormData(form);
    const text = (name: string): string => textOf(data, name).trim();
    const runId = text("runId");
    if (runId !== "") return route(`${base}/runs/${encodeURIComponent(runId)}`);
    const next = {
      ...(hasStatus ? { status: text("status") } : {}),
      handler: text("handler"),
      principal: text("principal"),
      from: epochOf(text("from")),
      to: epochOf(text("to")),
    };
    return route(addressOf(path, next));
  };
  return (
    <search aria-label="Filter">
      <form
        class="row"
        key={JSON.stringify(query)}
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        {hasStatus && (
          <label>
            Status
            <select name="status" defaultValue={query["status"] ?? ""}>
              <option value="">any</option>
              {statuses.map((status) => (
                <option key={status} value={status} selected={status === query["status"]}>
                  {status}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Tool, prompt or resource
          <input name="handler" value={query["handler"] ?? ""} autoComplete="off" />
        </label>
        <label>
          Caller
          <input name="principal" value={query["principal"] ?? ""} autoComplete="off" />
        </label>
        <label>
          Changed from
          <input name="from" type="datetime-local" value={localOf(query["from"])} />
        </label>
        <label>
          to
          <input name="to" type="datetime-local" value={localOf(query["to"])} />
        </label>
        <label>
          or run id
          <input name="runId" autoComplete="off" />
        </label>
        <button type="submit">Show</button>
        {Object.keys(query).length > 0 && <a href={path}>Show all</a>}
      </form>
    </search>
  );
}

function epochOf(local: string): string {
  const at = local === "" ? Number.NaN : new Date(local).getTime();
  return Number.isNaN(at) ? "" : String(at);
}

/** What an input of local time wants, of epoch milliseconds. */
function localOf(epoch: string | undefined): string {
  if (epoch === undefined || !/^\d{1,15}$/.test(epoch)) return "";
  const at = Number(epoch);
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
