/** Idempotency records: from a key to the run that holds it. The key goes in a body, so that no address has it. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiError, base, post } from "./api.ts";
import { Failure, Heading } from "./parts.tsx";

/** `/ops/find` */
export function FindKey(): VNode {
  const [found, setFound] = useState<string | null>();
  const [error, setError] = useState<ApiError>();
  const find = async (form: HTMLFormElement): Promise<void> => {
    try {
      setError(undefined);
      setFound(undefined);
      const body = Object.fromEntries(new FormData(form));
      setFound((await post<{ readonly runId: string | null }>("find-key", body)).runId);
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError("FAILED", String(failure)));
    }
  };
  return (
    <>
      <Heading>Idempotency records</Heading>
      <p>
        A tool's idempotency key leads to one run: a call that repeats it joins that run, or gets
        its result. Type the key as the tool's <code>idempotency.key</code> makes it, or as the
        client sent it.
      </p>
      <search aria-label="Find a run by its key">
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void find(event.currentTarget);
          }}
        >
          <label>
            Tool
            <input name="tool" required autoComplete="off" />
          </label>
          <label>
            Key
            <input name="key" required autoComplete="off" />
          </label>
          <label>
            Caller, for keys with scope caller
            <input name="principal" autoComplete="off" />
          </label>
          <button type="submit">Find</button>
        </form>
      </search>
      <div role="status">
        {found === null && (
          <p class="empty">
            No run holds this key. With scope caller, the caller must be named exactly.
          </p>
        )}
        {typeof found === "string" && (
          <p>
            The key leads to run{" "}
            <a href={`${base}/runs/${found}`}>
              <code>{found}</code>
            </a>
          </p>
        )}
      </div>
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
