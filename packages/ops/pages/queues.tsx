/** Queues of the pool, and what can be done with them. */
import type { VNode } from "preact";
import type { QueueStanding } from "../src/ports.ts";
import type { QueuesPage } from "../src/wire.ts";
import { Act } from "./act.tsx";
import { base } from "./api.ts";
import { useLive } from "./live.ts";
import { useMe } from "./me.ts";
import { count, Heading, lengthText, Shown, Status, Table } from "./parts.tsx";

/** `/ops/queues` */
export function Queues(): VNode {
  const live = useLive<QueuesPage>("queues");
  const { role, has, actions } = useMe();
  return (
    <>
      <Heading>Queues</Heading>
      <Shown live={live}>
        {({ queues }) => (
          <Table
            label="Queues"
            columns={[
              { head: "Queue", cell: ({ queue }) => queue },
              {
                head: "State",
                cell: ({ paused }) => <Status of={paused ? "paused" : "taking jobs"} />,
              },
              { head: "Waiting", cell: ({ waiting }) => count(waiting) },
              {
                head: "Oldest",
                cell: ({ oldestMs }) => (oldestMs === 0 ? "-" : lengthText(oldestMs)),
              },
              { head: "Running", cell: ({ active }) => count(active) },
              { head: "Capacity", cell: capacityOf },
              ...(role === "operator"
                ? [
                    {
                      head: "Actions",
                      cell: (queue: QueueStanding) => (
                        <QueueActs queue={queue} onDone={live.reload} />
                      ),
                    },
                  ]
                : []),
            ]}
            rows={queues}
            keyOf={({ queue }) => queue}
            empty="No handler runs on a queue."
          />
        )}
      </Shown>
      {role === "operator" && (
        <ul class="acts">
          {(["pause", "resume", "resize"] as const).map((action) => (
            <li key={action}>
              <strong>{actions[action].label}</strong>
              <small>
                {actions[action].does} {actions[action].clients}
              </small>
            </li>
          ))}
        </ul>
      )}
      {has.board && (
        <p>
          <a href={`${base}/board/`} target="_blank" rel="noopener">
            Raw jobs in bull-board
          </a>{" "}
          <small class="muted">to look at only; what jobs carry is hidden</small>
        </p>
      )}
    </>
  );
}

function capacityOf({ capacity, limit }: QueueStanding): VNode {
  if (capacity === 0) return <span class="bad">no worker</span>;
  return (
    <>
      {count(capacity)}
      {limit !== undefined && `, limited to ${count(limit)}`}
    </>
  );
}

function QueueActs({
  queue: { queue, paused, limit },
  onDone,
}: {
  readonly queue: QueueStanding;
  readonly onDone: () => void;
}): VNode {
  const path = `queues/${encodeURIComponent(queue)}`;
  const action = paused ? "resume" : "pause";
  return (
    <div class="row">
      <Act
        key={action}
        action={action}
        path={`${path}/${action}`}
        target={queue}
        isShort
        onDone={onDone}
      />
      <Act
        action="resize"
        path={`${path}/resize`}
        target={queue}
        isShort
        onDone={onDone}
        bodyOf={(form) => (form.get("limit") === "" ? {} : { limit: Number(form.get("limit")) })}
        fields={
          <label>
            Jobs at a time, of all workers together; empty for no limit
            <input name="limit" type="number" min={1} max={100_000} value={limit ?? ""} />
          </label>
        }
      />
    </div>
  );
}
