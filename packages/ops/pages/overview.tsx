/** The first page: what waits, what is wrong, how full it is. */
import type { ComponentChildren, VNode } from "preact";
import type { Lately, Overview as OverviewData, RecentErrors } from "../src/wire.ts";
import { base } from "./api.ts";
import { useLive } from "./live.ts";
import { bytesText, count, Heading, lengthText, Shown, When } from "./parts.tsx";

/** `/ops/` */
export function Overview(): VNode {
  const live = useLive<OverviewData>("overview");
  return (
    <>
      <Heading>Overview</Heading>
      <Shown live={live}>{(data) => <Tiles data={data} />}</Shown>
    </>
  );
}

function Tile({
  label,
  value,
  tone = "",
  children,
}: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly tone?: string;
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={tone}>
        {value}
        {children !== undefined && <small>{children}</small>}
      </dd>
    </div>
  );
}

function Tiles({ data }: { readonly data: OverviewData }): VNode {
  const { health, counts, lately, recent, instances, room, queues, keys } = data;
  const { byStatus, oldestWaitingSince } = counts;
  const attention = byStatus.attention ?? 0;
  const draining = instances.filter((each) => each.draining).length;
  const oldestJob = Math.max(0, ...(queues ?? []).map(({ oldestMs }) => oldestMs));
  const waitingJobs = (queues ?? []).reduce((sum, { waiting }) => sum + waiting, 0);
  const paused = (queues ?? []).filter((each) => each.paused).length;
  return (
    <>
      <h2>Now</h2>
      <dl class="tiles">
        <Tile
          label="Health"
          value={health.ok ? "Records runs" : "Takes no new runs"}
          tone={health.ok ? "good" : "bad"}
        >
          {health.reason}
        </Tile>
        <Tile label="Open questions" value={<a href={`${base}/asks`}>{count(byStatus.waiting)}</a>}>
          {oldestWaitingSince === undefined ? (
            "none waits"
          ) : (
            <>
              oldest asked <When at={oldestWaitingSince} />
            </>
          )}
        </Tile>
        <Tile
          label="Needs attention"
          value={<a href={`${base}/attention`}>{count(attention)}</a>}
          tone={attention > 0 ? "bad" : ""}
        >
          {attention === 0 ? "nothing" : "interrupted, parked, mismatched, uncertain or not undone"}
        </Tile>
        <Tile
          label="Running"
          value={<a href={`${base}/runs?status=running`}>{count(byStatus.running)}</a>}
        />
        <Tile
          label="Instances"
          value={<a href={`${base}/instances`}>{count(instances.length)}</a>}
          tone={instances.length === 0 ? "warn" : ""}
        >
          {instances.length === 0
            ? "none has said that it lives"
            : draining > 0
              ? `${draining} draining`
              : "alive in the last minute"}
        </Tile>
      </dl>
      <h2>Lately</h2>
      {lately !== undefined && lately.dropped > 0 && (
        <p class="warn">
          More happened than history keeps: {count(lately.dropped)} events were dropped, so lists
          and the counts of 7 days lack runs that went well. Throughput counts all.
        </p>
      )}
      <dl class="tiles">
        <Tile
          label="Throughput"
          value={lately === undefined ? "-" : `${rate(lately.endedPerMinute)} / min`}
        >
          {lately === undefined
            ? "no instance has counted yet"
            : `${count(lately.ended)} runs ended in ${lengthText(lately.spanMs)}`}
        </Tile>
        <Tile
          label="Failed"
          value={lately === undefined ? "-" : failedText(lately)}
          tone={lately !== undefined && lately.failed > 0.1 * lately.ended ? "bad" : ""}
        >
          {recent.codes.length === 0
            ? "no errors in the newest runs"
            : `newest ${count(recent.looked)} runs: ${errorsText(recent)}`}
        </Tile>
        <Tile
          label="Completed, 7 days"
          value={<a href={`${base}/runs?status=completed`}>{count(byStatus.completed)}</a>}
        />
        <Tile
          label="Failed, 7 days"
          value={<a href={`${base}/runs?status=failed`}>{count(byStatus.failed)}</a>}
        />
      </dl>
      <h2>Room</h2>
      <dl class="tiles">
        {queues !== undefined && (
          <Tile
            label="Queues"
            value={
              <a href={`${base}/queues`}>{oldestJob === 0 ? "no wait" : lengthText(oldestJob)}</a>
            }
            tone={paused > 0 ? "warn" : ""}
          >
            oldest of {count(waitingJobs)} waiting jobs{paused > 0 ? `; ${paused} paused` : ""}
          </Tile>
        )}
        {room !== undefined && <Room used={room.usedBytes} limit={room.limitBytes} />}
        {keys !== undefined && (
          <Tile label="Keys" value={<a href={`${base}/keys`}>{count(keys.sealing)}</a>}>
            {keys.oldestSealingAt === undefined ? (
              "none seals"
            ) : (
              <>
                seal; oldest made <When at={keys.oldestSealingAt} />
              </>
            )}
          </Tile>
        )}
        {queues === undefined && room === undefined && keys === undefined && (
          <Tile label="Store" value="embedded">
            one process, no queues, no ring of keys
          </Tile>
        )}
      </dl>
    </>
  );
}

function Room({ used, limit }: { readonly used: number; readonly limit: number }): VNode {
  const share = used / limit;
  return (
    <Tile
      label="Store"
      value={`${Math.round(share * 100)} % full`}
      tone={share > 0.9 ? "bad" : share > 0.75 ? "warn" : ""}
    >
      {bytesText(used)} of {bytesText(limit)}; new runs are refused from 90 %
    </Tile>
  );
}

/** Few are told as what they are: one of two is no half of all. */
function failedText({ ended, failed }: Lately): string {
  if (ended < 100 || failed === 0) return `${count(failed)} of ${count(ended)}`;
  const percent = (failed / ended) * 100;
  return percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}

function errorsText({ codes }: RecentErrors): string {
  return codes
    .slice(0, 3)
    .map(({ code, count: times }) => `${code} ${times}`)
    .join(", ");
}

function rate(perMinute: number): string {
  return perMinute >= 10 || perMinute === 0 ? String(Math.round(perMinute)) : perMinute.toFixed(1);
}
