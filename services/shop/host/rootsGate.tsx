/** The roots gate: the folders that the server may know of are the ones that the person writes here, and no others. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { RootsReply } from "reprise/client/browser";
import { AcceptButton, Answers } from "./answers.tsx";
import { focusOn } from "./focus.ts";
import type { OpenQuestion } from "./state.ts";

/** Has the folders named. */
export function RootsGate({
  question,
}: {
  readonly question: OpenQuestion & { readonly kind: "roots" };
}): JSX.Element {
  const { context, reply, number } = question;
  const id = `q${number}-roots`;
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const send = (): void => {
    const uris = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
    const wrong = uris.find((uri) => !URL.canParse(uri) || new URL(uri).protocol !== "file:");
    setProblem(wrong === undefined ? undefined : `${wrong} is no file:// address.`);
    if (wrong === undefined) {
      reply({ action: "accept", roots: uris.map((uri) => ({ uri })) } satisfies RootsReply);
    } else focusOn(id);
  };
  return (
    <>
      <p>
        It wants to know which folders it may work in. This page has none: you name them. None at
        all is an answer too.
      </p>
      <div class="field">
        <label for={id}>Folders, one a line, such as file:///home/me/project</label>
        <textarea
          id={id}
          rows={3}
          value={text}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {problem === undefined ? null : (
          <p class="problem" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </div>
      <Answers
        canWait={context.canWait}
        onLater={() => reply({ action: "later" })}
        no={[
          {
            words: context.canWait ? "Refuse (ends the call)" : "Refuse",
            onSay: () => reply({ action: "refuse" }),
          },
        ]}
      >
        <AcceptButton onAccept={send}>Send these folders</AcceptButton>
      </Answers>
    </>
  );
}
