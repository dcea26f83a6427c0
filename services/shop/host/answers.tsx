/**
 * The buttons under a question, the same for all gates: yes, no, and not now.
 *
 * Enter is never a yes: `AcceptButton` takes the pointer and the space bar only, and nothing puts the focus on it. No and "not now"
 * are there for every question and are ordinary buttons.
 */
import type { ComponentChildren, JSX } from "preact";

interface AcceptButtonProps {
  readonly onAccept: () => void;
  readonly children: ComponentChildren;
}

/** A yes. */
export function AcceptButton({ onAccept, children }: AcceptButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class="accept"
      aria-describedby="never-enter"
      onKeyDown={(event) => {
        if (event.key === "Enter") event.preventDefault();
      }}
      onClick={onAccept}
    >
      {children}
    </button>
  );
}

interface AnswersProps {
  /** What accepts, if anything may. */
  readonly children?: ComponentChildren;
  /** Form and URL asks can be declined and cancelled, sampling and roots asks refused. */
  readonly no: readonly { readonly words: string; readonly onSay: () => void }[];
  readonly onLater: () => void;
  readonly canWait: boolean;
}

/** The row of buttons, with what they mean. */
export function Answers({ children, no, onLater, canWait }: AnswersProps): JSX.Element {
  return (
    <>
      <div class="answers">
        {children}
        {no.map(({ words, onSay }) => (
          <button key={words} type="button" onClick={onSay}>
            {words}
          </button>
        ))}
        <button type="button" class="quiet-button" onClick={onLater}>
          {canWait ? "Answer later" : "Give the call up"}
        </button>
      </div>
      <p class="hint" id="never-enter">
        Enter never accepts: click, or press Space.{" "}
        {canWait
          ? "“Later” leaves the call; nothing waits at the server meanwhile."
          : "On this revision the call can't wait without its connection: “give up” ends it."}
      </p>
    </>
  );
}
