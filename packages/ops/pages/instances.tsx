/** Fronts and workers that have said in the last minute that they live. */

import type { InstanceInfo } from "@reprise/runtime";
import type { VNode } from "preact";
import type { InstancesPage } from "../src/wire.ts";
import { Act } from "./act.tsx";
import { useLive } from "./live.ts";
import { useMe } from "./me.ts";
import { type Column, count, Heading, Shown, Status, Table, When } from "./parts.tsx";

const columns: readonly Column<InstanceInfo>[] = [
  { head: "Instance", cell: ({ instance }) => <code>{instance}</code> },
  { head: "Role", cell: ({ role }) => role },
  { head: "State", cell: ({ draining }) => <Status of={draining ? "draining" : "taking work"} /> },
  { head: "Attempts", cell: ({ running }) => count(running) },
  { head: "Version", cell: ({ version }) => version },
  { head: "Host", cell: ({ host, pid }) => `${host}, pid ${pid}` },
  { head: "Started", cell: ({ startedAt }) => <When at={startedAt} /> },
  { head: "Seen", cell: ({ seenAt }) => <When at={seenAt} /> },
];

/** `/ops/instances` */
export function Instances(): VNode {
  const live = useLive<InstancesPage>("instances");
  const { role, has, actions } = useMe();
  const mayDrain = role === "operator" && has.drain;
  const drain: Column<InstanceInfo> = {
    head: "Actions",
    cell: ({ instance, role: kind, draining }) =>
      kind === "worker" && !draining ? (
        <Act
          action="drain"
          path={`instances/${encodeURIComponent(instance)}/drain`}
          target={instance}
          isShort
          onDone={live.reload}
        />
      ) : (
        ""
      ),
  };
  return (
    <>
      <Heading>Instances</Heading>
      <Shown live={live}>
        {({ instances }) => (
          <Table
            label="Instances"
            columns={mayDrain ? [...columns, drain] : columns}
            rows={instances}
            keyOf={({ instance }) => instance}
            empty="No instance has said in the last minute that it lives."
          />
        )}
      </Shown>
      {mayDrain && (
        <p class="muted">
          {actions.drain.label}: {actions.drain.does} {actions.drain.clients}
        </p>
      )}
    </>
  );
}
