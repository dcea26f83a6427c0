/** Cancels all runs of a filter, a few at a time, until none is left or somebody stops it. */
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ManyResult } from "../src/wire.ts";
import { ApiError, post, textOf } from "./api.ts";
import { useMe } from "./me.ts";

/** The button; only where the filter names a status that can be cancelled. */
export function CancelMany({
  filter,
  shown,
  onDone,
}: {
  readonly filter: Readonly<Record<string, string | undefined>>;
  readonly shown: number;
  readonly onDone: () => void;
}): VNode | null {
  const { role, actions } = useMe();
  const dialog = useRef<HTMLDialogElement>(null);
  const isStopped = useRef(false);
  const [busy, setBusy] = useState(false);
  const [said, say] = useState<string>();
  const { status } = filter;
  const isFit = status === "attention" || actions.cancel.on.some((each) => each === status);
  if (role !== "operator" || !isFit || (shown === 0 && said === undefined)) return null;

  const go = async (reason: string): Promise<void> => {
    setBusy(true);
    isStopped.current = false;
    let [done, others] = [0, 0];
    try {
      let cursor: string | undefined;
      do {
        const result: ManyResult = await post("cancel-many", { filter, reason, cursor });
        done += result.done;
        others += result.notApplicable;
        cursor = result.next;
        say(`${done} cancelled, ${others} had ended or moved on.`);
      } while (cursor !== undefined && !isStopped.current);
    } catch (error) {
      say(`${done} cancelled, then: ${error instanceof ApiError ? error.message : String(error)}`);
    } finally {
      setBusy(false);
      dialog.current?.close();
      onDone();
    }
  };

  const words = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return (
    <div class="row">
      {shown > 0 && (
        <button type="button" class="outline" onClick={() => dialog.current?.showModal()}>
          Cancel all that match
        </button>
      )}
      <small role="status">{said}</small>
      <dialog ref={dialog} aria-label="Cancel all that match">
        <article>
          <header>
            <h2>Cancel all that match</h2>
          </header>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void go(textOf(new FormData(event.currentTarget), "reason"));
            }}
          >
            <p>
              Every run with {words.map(([name, value]) => `${name} ${value}`).join(", ")}, not only
              those on this page. {actions.cancel.does}
            </p>
            <p>{actions.cancel.clients}</p>
            <label>
              Reason, for callers
              <input name="reason" maxLength={200} />
            </label>
            <footer>
              <button
                type="button"
                class="secondary"
                onClick={() => {
                  isStopped.current = true;
                  if (!busy) dialog.current?.close();
                }}
              >
                {busy ? "Stop" : "Leave it"}
              </button>
              <button type="submit" aria-busy={busy} disabled={busy}>
                Cancel them
              </button>
            </footer>
          </form>
        </article>
      </dialog>
    </div>
  );
}
