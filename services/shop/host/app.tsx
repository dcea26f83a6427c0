/** The whole page: who is called and how, the call and its question, and beside them the messages. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Era, printableLine } from "reprise/client/browser";
import { CallCard, FailureText } from "./callCard.tsx";
import { CallForm } from "./callForm.tsx";
import type { KeptCall } from "./keptCalls.ts";
import { Messages } from "./messages.tsx";
import type { HostSession } from "./session.ts";
import type { ConnectionState, HostState } from "./state.ts";

/** See the top of this file. */
export function App({ session }: { readonly session: HostSession }): JSX.Element {
  const state = useSession(session);
  const { connection, era, call, kept, opening, passed } = state;
  return (
    <>
      <header>
        <h1>A host in the browser</h1>
        <p>
          This page is the <em>host</em>: it calls the server's tools, shows you what they ask, and
          sends nothing that you have not agreed to. Beside the call you see every message of it.
        </p>
        <EraSwitch
          era={era}
          isBusy={session.isBusy}
          onEra={(chosen) => void session.open(chosen)}
        />
        <Connection connection={connection} onRetry={() => void session.open()} />
      </header>
      <main>
        <div class="calls">
          {state.storageFailed ? (
            <p class="warning" role="alert">
              <strong>Warning:</strong> this browser keeps nothing for this page (its storage is
              full or off). A call that you leave is lost with the page.
            </p>
          ) : null}
          {connection.status === "open" ? (
            <>
              {era === "modern" ? <KeptList kept={kept} session={session} /> : null}
              <CallForm
                tools={connection.tools}
                isBusy={session.isBusy}
                onCall={(tool, args) => void session.call(tool, args)}
              />
            </>
          ) : null}
          {call === undefined ? null : <CallCard session={session} call={call} passed={passed} />}
        </div>
        <Messages isLegacy={era === "legacy"} opening={opening} passed={passed} />
      </main>
    </>
  );
}

function useSession(session: HostSession): HostState {
  const [state, setState] = useState(session.state);
  useEffect(() => session.subscribe(() => setState(session.state)), [session]);
  return state;
}

const eras: readonly { readonly era: Era; readonly words: string; readonly why: string }[] = [
  {
    era: "modern",
    words: "2026-07-28",
    why: "A question ends the request; the answer comes with a new one. A call can be left and gone on with.",
  },
  {
    era: "legacy",
    words: "2025-11-25",
    why: "A session begins with a handshake. A question comes on the open call's stream, and the call is held until it is answered.",
  },
];

interface EraSwitchProps {
  readonly era: Era;
  readonly isBusy: boolean;
  readonly onEra: (era: Era) => void;
}

function EraSwitch({ era, isBusy, onEra }: EraSwitchProps): JSX.Element {
  return (
    <fieldset class="eras" disabled={isBusy}>
      <legend>Revision of the protocol</legend>
      {eras.map((each) => (
        <label key={each.era} class="choice">
          <input
            type="radio"
            name="era"
            checked={each.era === era}
            onChange={() => onEra(each.era)}
          />
          {each.words}
        </label>
      ))}
      <p class="hint">{eras.find((each) => each.era === era)?.why}</p>
    </fieldset>
  );
}

function Connection({
  connection,
  onRetry,
}: {
  readonly connection: ConnectionState;
  readonly onRetry: () => void;
}): JSX.Element {
  switch (connection.status) {
    case "opening":
      return <p role="status">Connecting.</p>;
    case "failed":
      return (
        <div class="card">
          <h2>The server can't be reached</h2>
          <FailureText failure={connection.failure} />
          <button type="button" class="primary" onClick={onRetry}>
            Try again
          </button>
        </div>
      );
    case "open": {
      const { server, revision } = connection;
      return (
        <p role="status">
          Connected to <strong>{server.url}</strong>
          {server.name === undefined ? "" : `, which calls itself “${printableLine(server.name)}”`},
          revision {revision}.
        </p>
      );
    }
  }
}

function KeptList({
  kept,
  session,
}: {
  readonly kept: readonly KeptCall[];
  readonly session: HostSession;
}): JSX.Element | null {
  if (kept.length === 0) return null;
  return (
    <section class="card" aria-labelledby="kept-title">
      <h2 id="kept-title">Calls that you left</h2>
      <ul class="kept">
        {kept.map((each) => {
          const { name, arguments: args } = each.call.request.params;
          return (
            <li key={each.call.idempotencyKey}>
              <code>
                {printableLine(String(name))} {JSON.stringify(args)}
              </code>
              <span class="answers">
                <button
                  type="button"
                  disabled={session.isBusy}
                  onClick={() => void session.resume(each)}
                >
                  Go on with it
                </button>
                <button
                  type="button"
                  class="quiet-button"
                  disabled={session.isBusy}
                  onClick={() => session.forget(each)}
                >
                  Forget it
                </button>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
