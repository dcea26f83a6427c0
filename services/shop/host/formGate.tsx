/** The form gate: filled in with the server's defaults, open to change, checked against the schema before anything is sent. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type FormReply, printableText } from "reprise/client/browser";
import { AcceptButton, Answers } from "./answers.tsx";
import { contentOf, draftOf, problemsOf } from "./draft.ts";
import { FieldInput } from "./fieldInput.tsx";
import { focusOn } from "./focus.ts";
import type { OpenQuestion } from "./state.ts";

/** Has the form answered. */
export function FormGate({
  question,
}: {
  readonly question: OpenQuestion & { readonly kind: "form" };
}): JSX.Element {
  const { ask, context, reply, number } = question;
  const [draft, setDraft] = useState(() => draftOf(ask.fields));
  const [isTried, setTried] = useState(false);
  const content = contentOf(ask.fields, draft);
  const problems = problemsOf(ask.fields, content);
  const idOf = (index: number): string => `q${number}-${index}`;
  const say = (action: "decline" | "cancel" | "later") => (): void =>
    reply({ action } satisfies FormReply);
  const accept = (): void => {
    setTried(true);
    const wrong = ask.fields.findIndex(({ name }) => problems.has(name));
    if (wrong === -1) reply({ action: "accept", content });
    else focusOn(idOf(wrong));
  };
  return (
    <>
      <blockquote class="words">{printableText(ask.message)}</blockquote>
      {ask.fields.map((field, index) => (
        <FieldInput
          key={field.name}
          id={idOf(index)}
          field={field}
          draft={draft}
          problem={isTried ? problems.get(field.name) : undefined}
          onType={(name, value) =>
            setDraft((before) => {
              const after = new Map(before);
              if (value === undefined) after.delete(name);
              else after.set(name, value);
              return after;
            })
          }
        />
      ))}
      <p class="problem" role="alert">
        {isTried && problems.size > 0
          ? `Nothing was sent: ${problems.size === 1 ? "one field is" : `${problems.size} fields are`} not filled in as the form wants it.`
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
        <AcceptButton onAccept={accept}>Send this answer</AcceptButton>
      </Answers>
    </>
  );
}
