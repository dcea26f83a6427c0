/** Who did what. */

import type { AuditItem } from "@reprise/runtime";
import type { VNode } from "preact";
import { useLocation } from "preact-iso";
import type { AuditPage } from "../src/wire.ts";
import { base } from "./api.ts";
import { useLive } from "./live.ts";
import { type Column, Heading, Shown, Table, When } from "./parts.tsx";
import { Pager } from "./runList.tsx";

const columns: readonly Column<AuditItem>[] = [
  { head: "At", cell: ({ at }) => <When at={at} /> },
  { head: "Who", cell: ({ actor }) => actor },
  { head: "Action", cell: ({ action }) => action.replaceAll("_", " ") },
  {
    head: "Target",
    cell: ({ target, action }) =>
      isRun(action) ? (
        <a href={`${base}/runs/${target}`}>
          <code>{target}</code>
        </a>
      ) : (
        <code>{target}</code>
      ),
  },
  { head: "Outcome", cell: ({ outcome }) => outcome },
];

/** `/ops/audit` */
export function AuditLog(): VNode {
  const { query } = useLocation();
  const before = query["cursor"];
  const live = useLive<AuditPage>(
    before === undefined ? "audit" : `audit?before=${encodeURIComponent(before)}`,
  );
  return (
    <>
      <Heading>Audit log</Heading>
      <p class="muted">Actions of operators and every look at a caller's values, kept 90 days.</p>
      <Shown live={live}>
        {({ items, next }) => (
          <>
            <Table
              label="Audit log"
              columns={columns}
              rows={items}
              keyOf={({ at }) => String(at)}
              empty="Nobody has acted yet."
            />
            <Pager
              path={`${base}/audit`}
              query={{}}
              cursor={before}
              next={next === undefined ? undefined : String(next)}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function isRun(action: string): boolean {
  return ["cancel", "retry", "finish", "release", "reveal"].includes(action);
}
