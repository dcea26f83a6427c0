/** The call that is shown: how far it is, how it came out, and what can be done with it. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Failure, printableLine, printableText } from "reprise/client/browser";
import { QuestionCard } from "./question.tsx";
import type { Passed } from "./recorder.ts";
import type { HostSession } from "./session.ts";
import type { CallResult, CallState, CallStatus } from "./state.ts";

interface CallCardProps {
  readonly session: HostSession;
  readonly call: CallState;
  readonly passed: readonly Passed[];
}

/** See the top of this file. */
export function CallCard({ session, call, passed }: CallCardProps): JSX.Element {
  const { status, tool, args, idempotencyKey } = call;
  if (status.kind === "asking") {
    return <QuestionCard key={status.question.number} question={status.question} />;
  }
  return (
    <section class="card" aria-labelledby="call-title">
      <h2 id="call-title">
        <code>{printableLine(tool)}</code>
      </h2>
      <p class="quiet">
        <code>{JSON.stringify(args)}</code>
      </p>
      <Notices passed={passed} isRunning={status.kind === "running"} />
      {status.kind === "running" ? (
        <>
          <p role="status">The server is working.</p>
          <button type="button" onClick={() => session.stop()}>
            Stop this call
          </button>
        </>
      ) : (
        <Ended session={session} status={status} />
      )}
      <p class="hint">
        Idempotency key <code class="key">{idempotencyKey}</code>: a repeat under it joins this
        call, and nothing happens twice.
      </p>
    </section>
  );
}

function Ended({
  session,
  status,
}: {
  readonly session: HostSession;
  readonly status: Exclude<CallStatus, { readonly kind: "running" | "asking" }>;
}): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { resumable } = session;
  return (
    <>
      <h3 tabIndex={-1} ref={heading}>
        {titleOf(status)}
      </h3>
      <Outcome status={status} />
      <div class="answers">
        {resumable === undefined ? null : (
          <button type="button" class="primary" onClick={() => void session.resume(resumable)}>
            Go on with it
          </button>
        )}
        <button type="button" onClick={() => void session.repeat()}>
          Call again with the same key
        </button>
      </div>
    </>
  );
}

function titleOf(status: CallStatus): string {
  switch (status.kind) {
    case "done":
      return status.result.isError ? "The tool failed" : "Done";
    case "failed":
      return "It did not work";
    case "left":
      return "Left for later";
    case "refused":
      return "You refused";
    case "stopped":
      return "Stopped";
    default:
      return "";
  }
}

function Outcome({ status }: { readonly status: CallStatus }): JSX.Element | null {
  switch (status.kind) {
    case "done":
      return <Result result={status.result} outputProblem={status.outputProblem} />;
    case "failed":
      return (
        <>
          <FailureText failure={status.failure} />
          {status.isKept ? (
            <p>The call is kept in this browser; go on with it when the cause is mended.</p>
          ) : null}
        </>
      );
    case "left":
      return (
        <p>
          The question stays open, and the call is kept in this browser, also when you close the
          page. Nothing waits at the server meanwhile.
        </p>
      );
    case "refused":
      return (
        <p>
          Nothing was sent: the protocol has no words for it on this revision, and no server waits
          for them.
        </p>
      );
    case "stopped":
      return (
        <p>What was sent may have happened. Under the same key nothing of it happens twice.</p>
      );
    default:
      return null;
  }
}

function Result({
  result,
  outputProblem,
}: {
  readonly result: CallResult;
  readonly outputProblem: string | undefined;
}): JSX.Element {
  return (
    <>
      {result.texts.map((text) => (
        <p key={text} class={result.isError ? "result problem" : "result"}>
          {printableText(text)}
        </p>
      ))}
      {result.structured === undefined ? null : (
        <details>
          <summary>Structured content</summary>
          <pre>{printableText(JSON.stringify(result.structured, undefined, 2))}</pre>
        </details>
      )}
      {outputProblem === undefined ? null : (
        <p class="warning">
          <strong>Warning:</strong> the structured content breaks the tool's own schema:{" "}
          {printableText(outputProblem)}
        </p>
      )}
    </>
  );
}

/** A failure with its code and what can be done. */
export function FailureText({ failure }: { readonly failure: Failure }): JSX.Element {
  const { code, message, remedy, data } = failure;
  return (
    <>
      <p class="problem" role="alert">
        <code>{printableLine(code)}</code> {printableText(message)}
      </p>
      {remedy === undefined ? null : (
        <p>
          <strong>What to do:</strong> {remedy}
        </p>
      )}
      {data === undefined ? null : (
        <details>
          <summary>What came with it</summary>
          <pre>{printableText(JSON.stringify(data, undefined, 2))}</pre>
        </details>
      )}
    </>
  );
}

/** A server that only says that it is still there moves its progress by next to nothing. */
const heartbeatBelow = 1e-6;

/** Progress and log lines, read off the messages that brought them. */
function Notices({
  passed,
  isRunning,
}: {
  readonly passed: readonly Passed[];
  readonly isRunning: boolean;
}): JSX.Element {
  const notices = passed.flatMap(({ message }) => {
    const params = message?.["params"];
    if (typeof params !== "object" || params === null) return [];
    return [{ method: message?.["method"], params: params as Readonly<Record<string, unknown>> }];
  });
  const progress = notices.findLast(({ method }) => method === "notifications/progress")?.params;
  const lines = notices.filter(({ method }) => method === "notifications/message");
  const { progress: value, total, message } = progress ?? {};
  return (
    <>
      {progress === undefined || typeof value !== "number" ? null : (
        <p>
          Progress: {value < heartbeatBelow ? "still at work" : value}
          {typeof total === "number" ? ` of ${total}` : ""}
          {typeof message === "string" ? `, ${printableLine(message)}` : ""}{" "}
          {isRunning ? (
            <progress
              aria-label="Progress"
              {...(typeof total === "number" ? { value, max: total } : {})}
            />
          ) : null}
        </p>
      )}
      {lines.length === 0 ? null : (
        <ul class="log" aria-label="Log">
          {lines.map(({ params }, index) => (
            <li key={index}>
              <code>{printableLine(String(params["level"]))}</code>{" "}
              {printableText(
                typeof params["data"] === "string"
                  ? params["data"]
                  : JSON.stringify(params["data"]),
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
