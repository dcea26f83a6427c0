/** One run: what is known of it, what can be done, what happened, and its values for who reveals them. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { RecordOutline, Revealed, RunAction, RunView } from "../src/wire.ts";
import { Act } from "./act.tsx";
import { ApiError, post } from "./api.ts";
import { useLive } from "./live.ts";
import { useMe } from "./me.ts";
import { attentionWords, Failure, Heading, Shown, Status, When } from "./parts.tsx";
import { Journal, Timeline } from "./timeline.tsx";

const runActions: readonly RunAction[] = ["release", "retry", "finish", "cancel"];

/** `/ops/runs/:id` */
export function Run(): VNode {
  const { params } = useRoute();
  const id = params["id"] ?? "";
  const live = useLive<RunView>(`runs/${encodeURIComponent(id)}`);
  const facts = live.data?.record ?? live.data?.summary;
  return (
    <>
      <Heading about={`${facts?.handler.name ?? ""} ${id.slice(0, 8)}`.trim()}>Run</Heading>
      <Shown live={live}>{(view) => <RunParts view={view} onDone={live.reload} />}</Shown>
    </>
  );
}

function RunParts({
  view,
  onDone,
}: {
  readonly view: RunView;
  readonly onDone: () => void;
}): VNode {
  const { summary, record, events, runId } = view;
  const status = record?.status ?? summary?.status;
  const facts = record ?? summary;
  const { role, actions } = useMe();
  return (
    <>
      <dl class="facts">
        <Fact name="Status">
          {status !== undefined && <Status of={status} />}{" "}
          {summary?.attention !== undefined && summary.attention !== status && (
            <Status of={summary.attention} />
          )}
        </Fact>
        <Fact name={facts?.handler.kind ?? "handler"}>{facts?.handler.name}</Fact>
        <Fact name="Run id">
          <code>{runId}</code>
        </Fact>
        <Fact name="Caller">{facts?.principal}</Fact>
        <Fact name="Client">
          {facts?.client ?? "unnamed"}, {facts?.protocolVersion}
        </Fact>
        <Fact name="Round">{facts?.round}</Fact>
        <Fact name="Version">{facts?.version}</Fact>
        <Fact name="Started">
          <When at={facts?.startedAt} isExact />
        </Fact>
        <Fact name="Changed">
          <When at={facts?.updatedAt} isExact />
        </Fact>
        {record !== undefined && (
          <>
            <Fact name="Kept until">
              <When at={record.expiresAt} />
            </Fact>
            <Fact name="Attempts">
              {record.epoch}
              {record.takeovers > 0 ? `; ${record.takeovers} died in this round` : ""}
            </Fact>
            <Fact name="Idempotency key">
              {record.hasKey ? (record.keyFree ? "free again" : "taken") : "none"}
            </Fact>
            {record.status === "waiting" && (
              <Fact name="Answer until">
                <When at={record.answerUntil} />
              </Fact>
            )}
            {record.response !== undefined && (
              <Fact name="Newest response">
                {record.response.kind}{" "}
                {record.response.code !== undefined && <code>{record.response.code}</code>}
              </Fact>
            )}
          </>
        )}
      </dl>
      {summary?.attention !== undefined && (
        <p class="notice warn">{attentionWords[summary.attention]}</p>
      )}
      {record === undefined && (
        <p class="notice">
          This run has no record, or none any more: what is shown is what was told of it.
        </p>
      )}
      {record !== undefined && <InDoubt record={record} />}
      {record !== undefined && role === "operator" && (
        <>
          <h2>What you can do</h2>
          <ul class="acts">
            {runActions
              .filter((action) => actions[action].on.includes(record.status))
              .map((action) => (
                <li key={action}>
                  <Act
                    action={action}
                    path={`runs/${encodeURIComponent(runId)}/${action}`}
                    target={runId}
                    fields={fieldsOf(action)}
                    onDone={onDone}
                  />
                </li>
              ))}
          </ul>
        </>
      )}
      <h2>What happened</h2>
      <Timeline events={events} />
      {record !== undefined && <Journal record={record} />}
      <Values runId={runId} hasRecord={record !== undefined} />
    </>
  );
}

/** Steps that may or may not have happened: whoever acts must know of them before. */
function InDoubt({ record }: { readonly record: RecordOutline }): VNode | null {
  const { open, entries, status } = record;
  const failed = entries.flatMap(({ name, at, outcome }) =>
    outcome === "uncertain" ? [{ step: name, since: at }] : [],
  );
  const known = new Set(open.map(({ step }) => step));
  const undone = new Set(
    entries.flatMap(({ kind, name }) => (kind === "step_undone" ? [name] : [])),
  );
  const steps = [...open, ...failed.filter(({ step }) => !known.has(step))].filter(
    ({ step }) => !undone.has(step),
  );
  if (steps.length === 0) return null;
  const names = steps.map(({ step, since }) => (
    <span key={step}>
      <code>{step}</code> <When at={since} isExact />{" "}
    </span>
  ));
  if (status === "running") return <p class="muted">Started and not yet recorded: {names}</p>;
  return (
    <p class="notice warn">
      May or may not have happened: {names}
      Look there before you act.
    </p>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: preact.ComponentChildren;
}): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function fieldsOf(action: RunAction): VNode | undefined {
  if (action === "cancel") {
    return (
      <label>
        Reason, for the caller
        <input name="reason" maxLength={200} />
      </label>
    );
  }
  if (action !== "finish") return undefined;
  return (
    <>
      <label>
        The caller gets
        <select name="as">
          <option value="completed">a result</option>
          <option value="failed">an error</option>
        </select>
      </label>
      <label>
        In these words
        <textarea name="text" required maxLength={2000} rows={3} />
      </label>
    </>
  );
}

function Values({
  runId,
  hasRecord,
}: {
  readonly runId: string;
  readonly hasRecord: boolean;
}): VNode | null {
  const { role } = useMe();
  const [shown, show] = useState<Revealed>();
  const [error, setError] = useState<ApiError>();
  if (!hasRecord) return null;
  const reveal = async (): Promise<void> => {
    try {
      setError(undefined);
      show(await post<Revealed>(`runs/${encodeURIComponent(runId)}/reveal`, { part: "all" }));
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError("FAILED", String(failure)));
    }
  };
  return (
    <section aria-live="polite">
      <h2>Values</h2>
      {role === "operator" ? (
        <p>
          <button type="button" class="outline" onClick={() => void reveal()}>
            {shown === undefined ? "Reveal all values" : "Reveal again"}
          </button>{" "}
          <small class="muted">
            Arguments, questions, answers, results. That you looked is written into the audit log.
          </small>
        </p>
      ) : (
        <p class="muted">Arguments, questions, answers and results are shown to operators only.</p>
      )}
      {error !== undefined && <Failure error={error} />}
      {shown?.values.map(({ label, text, cut }) => (
        <details key={label} open>
          <summary>{label}</summary>
          {/* A long value scrolls, and a keyboard must reach it. */}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keys needs the focus */}
          <pre tabIndex={0}>
            {text}
            {cut ? "\n(cut)" : ""}
          </pre>
        </details>
      ))}
    </section>
  );
}
