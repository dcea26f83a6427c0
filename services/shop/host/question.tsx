/**
 * The question before the person: who asks, for which call, and the gate of its kind.
 *
 * The focus goes to its heading when it comes, never to a button, so that a key pressed for something else answers nothing.
 */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { printableLine } from "reprise/client/browser";
import { FormGate } from "./formGate.tsx";
import { RootsGate } from "./rootsGate.tsx";
import { SampleGate } from "./sampleGate.tsx";
import type { OpenQuestion } from "./state.ts";
import { UrlGate } from "./urlGate.tsx";

/** See the top of this file. Give it the question's number as key: a new question is a new form. */
export function QuestionCard({ question }: { readonly question: OpenQuestion }): JSX.Element {
  const { ask, context } = question;
  const { server, target, round, maxInputRounds, answerBefore } = context;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="card question" aria-labelledby="question-title">
      <h2 id="question-title" tabIndex={-1} ref={heading}>
        The server asks
      </h2>
      <p>
        <strong>{server.origin}</strong>
        {server.name === undefined ? null : (
          <>, which calls itself “{printableLine(server.name)}”,</>
        )}{" "}
        asks in <code>{printableLine(target)}</code>: question <code>{printableLine(ask.key)}</code>
        , round {round} of at most {maxInputRounds}.
        {answerBefore === undefined
          ? null
          : ` It takes an answer until ${answerBefore.toLocaleString()}.`}
      </p>
      <Gate question={question} />
    </section>
  );
}

function Gate({ question }: { readonly question: OpenQuestion }): JSX.Element {
  switch (question.kind) {
    case "form":
      return <FormGate question={question} />;
    case "url":
      return <UrlGate question={question} />;
    case "sample":
      return <SampleGate question={question} />;
    case "roots":
      return <RootsGate question={question} />;
  }
}
