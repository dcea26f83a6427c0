/**
 * A button for an action: what it does and what clients get stands beside it, and again in the dialog that asks before it is done.
 *
 * The dialog is the browser's own: it holds the focus, Escape closes it, and it gives the focus back.
 */
import type { ComponentChildren, VNode } from "preact";
import { useContext, useId, useRef, useState } from "preact/hooks";
import type { ActionName, ActionResult } from "../src/wire.ts";
import { ApiError, post } from "./api.ts";
import { type Said, SayContext, useMe } from "./me.ts";

/** What an `Act` is given. */
export interface ActProps {
  readonly action: ActionName;
  /** Below `/ops/api/`. */
  readonly path: string;
  /** What it is about, such as a run id. */
  readonly target: string;
  /** Fields of the dialog's form; their names are the members of the body. */
  readonly fields?: ComponentChildren;
  /** Makes the body of the form's values; without it, they are sent as texts. */
  readonly bodyOf?: (form: FormData) => object;
  /** Stands in a table: the words are in the dialog alone. */
  readonly isShort?: boolean;
  readonly onDone: () => void;
}

/** The button with its words; nothing for a viewer. */
export function Act({
  action,
  path,
  target,
  fields,
  bodyOf,
  isShort = false,
  onDone,
}: ActProps): VNode | null {
  const { role, actions } = useMe();
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const say = useContext(SayContext);
  const title = useId();
  if (role !== "operator") return null;
  const { label, does, clients } = actions[action];

  const submit = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true);
    try {
      const data = new FormData(form);
      const body =
        bodyOf?.(data) ?? Object.fromEntries([...data].filter(([, value]) => value !== ""));
      say(saidOf(label, await post<ActionResult>(path, body)));
      onDone();
    } catch (error) {
      say({
        tone: "bad",
        text: `${label}: ${error instanceof ApiError ? error.message : String(error)}`,
      });
    } finally {
      setBusy(false);
      dialog.current?.close();
    }
  };

  return (
    <>
      <button type="button" class="outline" onClick={() => dialog.current?.showModal()}>
        {label}
        {isShort && <span class="hidden-words"> {target}</span>}
      </button>
      {!isShort && (
        <small>
          {does} {clients}
        </small>
      )}
      <dialog ref={dialog} aria-labelledby={title}>
        <article>
          <header>
            <h2 id={title}>
              {label}: {target}
            </h2>
          </header>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void submit(event.currentTarget);
            }}
          >
            <p>{does}</p>
            <p>{clients}</p>
            {fields}
            <footer>
              <button type="button" class="secondary" onClick={() => dialog.current?.close()}>
                Leave it
              </button>
              <button type="submit" aria-busy={busy} disabled={busy}>
                {label}
              </button>
            </footer>
          </form>
        </article>
      </dialog>
    </>
  );
}

function saidOf(label: string, { outcome, status, why, unaudited }: ActionResult): Said {
  const late =
    unaudited === true
      ? " It could not be written into the audit log; the process's log has it."
      : "";
  if (outcome === "done") {
    return {
      tone: unaudited === true ? "warn" : "good",
      text: `${label}: done.${status === undefined ? "" : ` It is ${status} now.`}${late}`,
    };
  }
  if (outcome === "unknown") return { tone: "bad", text: `${label}: it is not there any more.` };
  return {
    tone: "warn",
    text: `${label}: nothing was changed${status === undefined ? "" : `: it is ${status}`}. ${why ?? ""}`,
  };
}
