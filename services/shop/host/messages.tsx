/** The messages of the call, one by one as they pass, with their count; and those that opened the connection. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { explain } from "./explain.ts";
import type { Passed } from "./recorder.ts";
import { shownMessage } from "./shownMessage.ts";

interface MessagesProps {
  readonly isLegacy: boolean;
  readonly opening: readonly Passed[];
  readonly passed: readonly Passed[];
}

/** The column beside the call. */
export function Messages({ isLegacy, opening, passed }: MessagesProps): JSX.Element {
  const count = messagesIn(passed);
  const requests = new Set(passed.map(({ exchange }) => exchange)).size;
  const list = useRef<HTMLDivElement>(null);
  // On a phone the bodies of a few messages would be longer than all the rest of the page.
  const [hasRoom] = useState(() => window.matchMedia("(min-width: 56rem)").matches);
  // Only the column itself moves: on a phone, where it is part of the page, the person stays where they are.
  useEffect(() => {
    const column = list.current;
    const newest = column?.querySelector(".passage:last-child");
    if (column === null || !(newest instanceof HTMLElement)) return;
    column.scrollTop = newest.offsetTop - column.offsetTop;
  }, [passed.length]);
  return (
    <section class="messages" aria-labelledby="messages-title">
      <h2 id="messages-title">Messages of the call</h2>
      <p role="status" class="count">
        <strong>{plural(count, "message")}</strong> in {plural(requests, "HTTP request")}
      </p>
      <div class="scroll" ref={list}>
        {passed.length === 0 ? (
          <p class="quiet">Call a tool, and every message appears here as it passes.</p>
        ) : (
          <Passages passed={passed} isLegacy={isLegacy} isOpen={hasRoom} />
        )}
      </div>
      <details class="opening">
        <summary>
          Before the call: {plural(messagesIn(opening), "message")} that opened the connection
        </summary>
        <Passages passed={opening} isLegacy={isLegacy} isOpen={false} />
      </details>
    </section>
  );
}

function Passages({
  passed,
  isLegacy,
  isOpen,
}: {
  readonly passed: readonly Passed[];
  readonly isLegacy: boolean;
  readonly isOpen: boolean;
}): JSX.Element {
  let number = 0;
  return (
    <ol class="passages">
      {passed.map((each, index) => {
        if (each.message !== undefined) number += 1;
        return (
          <Passage key={index} passed={each} number={number} isLegacy={isLegacy} isOpen={isOpen} />
        );
      })}
    </ol>
  );
}

interface PassageProps {
  readonly passed: Passed;
  readonly number: number;
  readonly isLegacy: boolean;
  readonly isOpen: boolean;
}

function Passage({ passed, number, isLegacy, isOpen }: PassageProps): JSX.Element {
  const { direction, line, headers, message } = passed;
  const { title, why } = explain(passed, isLegacy);
  const isSent = direction === "sent";
  const shown = message === undefined ? undefined : shownMessage(message);
  return (
    <li class={`passage ${isSent ? "sent" : "received"} ${message === undefined ? "bare" : ""}`}>
      <p class="passage-title">
        <span class="arrow" aria-hidden="true">
          {isSent ? "→" : "←"}
        </span>
        <span class="visually-hidden">
          {isSent ? "From host to server:" : "From server to host:"}
        </span>{" "}
        {message === undefined ? null : <span class="number">{number}.</span>}{" "}
        <strong>{title}</strong>
      </p>
      {why === "" ? null : <p class="why">{why}</p>}
      <p class="line">
        <code>{line}</code>
        {headers.map(([name, value]) => (
          <code key={name} class="header">
            {name}:{" "}
            {value.length > 60 ? `${value.slice(0, 24)}… (${value.length} characters)` : value}
          </code>
        ))}
      </p>
      {shown === undefined ? null : (
        <details open={isOpen}>
          <summary>Body</summary>
          <pre>{shown.text}</pre>
          {shown.states.map((state) => (
            <details key={state} class="state">
              <summary>requestState, unfolded</summary>
              <pre>{state}</pre>
            </details>
          ))}
        </details>
      )}
    </li>
  );
}

/** How many of them are messages. */
function messagesIn(passed: readonly Passed[]): number {
  return passed.filter(({ message }) => message !== undefined).length;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
