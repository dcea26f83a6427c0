/**
 * The URL gate: the whole address with its host set apart, what is odd about it, and a tab that opens after a yes and not before.
 *
 * Nothing of the address is loaded here: it is text, never a link, so that no browser looks it up ahead of time. The new tab gets
 * neither this page nor its address (`noopener`, `noreferrer`).
 */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { printableLine, printableText, type UrlReply } from "reprise/client/browser";
import { AcceptButton, Answers } from "./answers.tsx";
import type { OpenQuestion } from "./state.ts";

/** Has the visit agreed to, or not. */
export function UrlGate({
  question,
}: {
  readonly question: OpenQuestion & { readonly kind: "url" };
}): JSX.Element {
  const { ask, context, reply, isCompleted } = question;
  const { href, parts, warnings, refusal } = ask.url;
  const [isOpened, setOpened] = useState(false);
  const say = (action: "accept" | "decline" | "cancel" | "later") => (): void =>
    reply({ action } satisfies UrlReply);
  const open = (): void => {
    window.open(href, "_blank", "noopener,noreferrer");
    setOpened(true);
  };
  return (
    <>
      <blockquote class="words">{printableText(ask.message)}</blockquote>
      <p>It wants you to visit this page:</p>
      <p class="address">
        {printableLine(parts.before)}
        {parts.host === "" ? null : <mark>{printableLine(parts.host)}</mark>}
        {printableLine(parts.after)}
      </p>
      {parts.host === "" ? null : (
        <p>
          You would talk to <strong>{printableLine(parts.host)}</strong>.
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="warning">
          <strong>Warning:</strong> {printableLine(warning)}
        </p>
      ))}
      {refusal === undefined ? null : (
        <p class="problem">This address will not be opened. {printableLine(refusal)}</p>
      )}
      <p role="status">
        {isCompleted === true
          ? "The server says that the page is done."
          : isOpened
            ? "Opened in a new tab. Come back here when you have finished there. (No tab? Your browser may have blocked it: copy the address.)"
            : ""}
      </p>
      <Answers
        canWait={context.canWait}
        onLater={say("later")}
        no={[
          { words: "Decline", onSay: say("decline") },
          { words: "Cancel", onSay: say("cancel") },
        ]}
      >
        {refusal === undefined ? (
          <>
            <AcceptButton onAccept={open}>Open the page in a new tab</AcceptButton>
            <AcceptButton onAccept={say("accept")}>I have been there: tell the server</AcceptButton>
          </>
        ) : null}
      </Answers>
    </>
  );
}
