/** The ring of keys that request states and session ids are sealed with. */
import type { VNode } from "preact";
import type { KeyStanding } from "../src/ports.ts";
import type { KeysPage } from "../src/wire.ts";
import { Act } from "./act.tsx";
import { useLive } from "./live.ts";
import { useMe } from "./me.ts";
import { type Column, Heading, Shown, Status, Table, When } from "./parts.tsx";

const columns: readonly Column<KeyStanding>[] = [
  { head: "Key", cell: ({ kid }) => <code>{kid}</code> },
  { head: "Status", cell: ({ status }) => <Status of={status} /> },
  { head: "Owner", cell: ({ owner }) => owner ?? "-" },
  {
    head: "Made",
    cell: ({ createdAtMs, revokedAtMs }) =>
      // The ring keeps no more of a revoked key than that.
      createdAtMs === undefined && revokedAtMs !== undefined ? (
        <>
          revoked <When at={revokedAtMs} />
        </>
      ) : (
        <When at={createdAtMs} />
      ),
  },
  { head: "Opens until", cell: ({ opensUntilMs }) => <When at={opensUntilMs} /> },
  {
    head: "Wrapped",
    cell: ({ wrapped }) =>
      wrapped === undefined ? (
        "-"
      ) : wrapped ? (
        "yes"
      ) : (
        <span class="warn">no: whoever reads Redis can seal states</span>
      ),
  },
];

/** `/ops/keys` */
export function Keys(): VNode {
  const live = useLive<KeysPage>("keys");
  const { role, actions } = useMe();
  const revoke: Column<KeyStanding> = {
    head: "Actions",
    cell: ({ kid, status }) =>
      status === "sealing" || status === "opening" ? (
        <Act
          action="revoke"
          path={`keys/${encodeURIComponent(kid)}/revoke`}
          target={kid}
          isShort
          onDone={live.reload}
        />
      ) : (
        ""
      ),
  };
  return (
    <>
      <Heading>Keys</Heading>
      {role === "operator" && (
        <ul class="acts">
          <li>
            <Act action="rotate" path="keys/rotate" target="all instances" onDone={live.reload} />
          </li>
        </ul>
      )}
      <Shown live={live}>
        {({ keys }) => (
          <Table
            label="Keys"
            columns={role === "operator" ? [...columns, revoke] : columns}
            rows={keys}
            keyOf={({ kid }) => kid}
            empty="The ring has no keys: the instances have requestStateKey in their settings, or none is running."
          />
        )}
      </Shown>
      {role === "operator" && (
        <p class="muted">
          {actions.revoke.label}: {actions.revoke.does} {actions.revoke.clients}
        </p>
      )}
    </>
  );
}
