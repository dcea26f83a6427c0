/**
 * The sampling gate: the prompt, open to change and refusal, and an answer that nobody but the person writes.
 *
 * No model is connected to this page. The prompt can be edited all the same, because it is what the person takes to a model of
 * theirs; the server never gets it back.
 */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { printableLine, printableText, type SampleReply } from "reprise/client/browser";
import { AcceptButton, Answers } from "./answers.tsx";
import { textOf } from "./callResult.ts";
import { focusOn } from "./focus.ts";
import type { OpenQuestion } from "./state.ts";

type Params = (OpenQuestion & { readonly kind: "sample" })["ask"]["params"];

/** Has the prompt answered. */
export function SampleGate({
  question,
}: {
  readonly question: OpenQuestion & { readonly kind: "sample" };
}): JSX.Element {
  const { ask, context, reply, number } = question;
  const id = `q${number}`;
  const [prompt, setPrompt] = useState(() => promptText(ask.params));
  const [answer, setAnswer] = useState("");
  const [model, setModel] = useState("a person");
  const [isTried, setTried] = useState(false);
  const isMissing = isTried && answer.trim() === "";
  const send = (): void => {
    setTried(true);
    if (answer.trim() === "") {
      focusOn(`${id}-answer`);
      return;
    }
    reply({
      action: "accept",
      result: {
        role: "assistant",
        content: { type: "text", text: answer },
        model: model.trim() || "a person",
        stopReason: "endTurn",
      },
    } satisfies SampleReply);
  };
  return (
    <>
      <p>
        It wants a model's answer to the prompt below.{" "}
        <strong>No model is connected to this page: you write the answer</strong>, or have a model
        of yours write it. Nothing is sent but the answer.
      </p>
      <p class="hint">{wishes(ask.params)}</p>
      <div class="field">
        <label for={`${id}-prompt`}>The prompt, to change as you like</label>
        <textarea
          id={`${id}-prompt`}
          rows={8}
          value={prompt}
          onInput={(event) => setPrompt(event.currentTarget.value)}
        />
        <button
          type="button"
          class="small"
          onClick={() => void navigator.clipboard.writeText(prompt)}
        >
          Copy the prompt
        </button>
      </div>
      <div class="field">
        <label for={`${id}-answer`}>The answer that will be sent</label>
        <textarea
          id={`${id}-answer`}
          rows={5}
          value={answer}
          aria-invalid={isMissing}
          aria-describedby={isMissing ? `${id}-missing` : undefined}
          onInput={(event) => setAnswer(event.currentTarget.value)}
        />
        {isMissing ? (
          <p class="problem" id={`${id}-missing`}>
            Write an answer, or refuse.
          </p>
        ) : null}
      </div>
      <div class="field">
        <label for={`${id}-model`}>
          Who wrote it (the server is told this as the model's name)
        </label>
        <input
          id={`${id}-model`}
          type="text"
          autocomplete="off"
          value={model}
          onInput={(event) => setModel(event.currentTarget.value)}
        />
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
        <AcceptButton onAccept={send}>Send this answer</AcceptButton>
      </Answers>
    </>
  );
}

function promptText({ systemPrompt, messages }: Params): string {
  const parts = messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
  return printableText(
    [...(systemPrompt === undefined ? [] : [`system: ${systemPrompt}`]), ...parts].join("\n\n"),
  );
}

function wishes({ maxTokens, modelPreferences, temperature }: Params): string {
  const hints = modelPreferences?.hints?.flatMap(({ name }) => name ?? []) ?? [];
  return printableLine(
    [
      `At most ${maxTokens} tokens.`,
      ...(temperature === undefined ? [] : [`Temperature ${temperature}.`]),
      ...(hints.length === 0 ? [] : [`It would like ${hints.join(", ")}.`]),
    ].join(" "),
  );
}
