/**
 * The layout around every page, and which address is which page.
 */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import type { Me } from "../src/wire.ts";
import { ApiError, base, loadMe, post } from "./api.ts";
import { AuditLog } from "./audit.tsx";
import { FindKey } from "./findKey.tsx";
import { Inbox } from "./inbox.tsx";
import { Instances } from "./instances.tsx";
import { Keys } from "./keys.tsx";
import { useConnection } from "./live.ts";
import { MeContext, type Said, SayContext } from "./me.ts";
import { Overview } from "./overview.tsx";
import { Failure, Heading } from "./parts.tsx";
import { Queues } from "./queues.tsx";
import { Run } from "./run.tsx";
import { Runs } from "./runs.tsx";

/** Everything. */
export function App(): VNode {
  const [me, setMe] = useState<Me>();
  const [error, setError] = useState<ApiError>();
  const [said, say] = useState<Said>();
  useEffect(() => {
    loadMe().then(setMe, (failure: unknown) => {
      setError(failure instanceof ApiError ? failure : new ApiError("FAILED", String(failure)));
    });
  }, []);
  if (error !== undefined) {
    return (
      <main class="container">
        <h1>Reprise</h1>
        <Failure error={error} />
      </main>
    );
  }
  if (me === undefined) {
    return (
      <main class="container">
        <h1>Reprise</h1>
        <p aria-busy="true">Reading</p>
      </main>
    );
  }
  return (
    <MeContext.Provider value={me}>
      <LocationProvider scope={base}>
        <a class="skip" href="#main">
          To the content
        </a>
        <Top me={me} />
        <main id="main" class="container">
          <StoreState />
          <LastSaid said={said} forget={() => say(undefined)} />
          <SayContext.Provider value={say}>
            <Router>
              <Route path={`${base}/`} component={Overview} />
              <Route path={`${base}/asks`} component={Inbox} />
              <Route path={`${base}/attention`} component={Runs} />
              <Route path={`${base}/runs`} component={Runs} />
              <Route path={`${base}/runs/:id`} component={Run} />
              <Route path={`${base}/find`} component={FindKey} />
              <Route path={`${base}/queues`} component={Queues} />
              <Route path={`${base}/instances`} component={Instances} />
              <Route path={`${base}/keys`} component={Keys} />
              <Route path={`${base}/audit`} component={AuditLog} />
              <Route default component={Nowhere} />
            </Router>
          </SayContext.Provider>
        </main>
      </LocationProvider>
    </MeContext.Provider>
  );
}

function Top({ me }: { readonly me: Me }): VNode {
  const { path } = useLocation();
  const places: readonly (readonly [string, string, boolean])[] = [
    ["/", "Overview", true],
    ["/asks", "Asks", true],
    ["/attention", "Needs attention", true],
    ["/runs", "Runs", true],
    ["/find", "Idempotency", true],
    ["/queues", "Queues", me.has.queues],
    ["/instances", "Instances", true],
    ["/keys", "Keys", me.has.keys],
    ["/audit", "Audit log", true],
  ];
  const isHere = (place: string): boolean =>
    place === "/" ? path === base || path === `${base}/` : path.startsWith(base + place);
  return (
    <header class="top">
      <div class="container">
        <strong>{me.server}</strong>
        <Connected />
        <div class="who">
          <span>
            {me.actor} ({me.role})
          </span>
          <button type="button" class="outline secondary" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
        <nav aria-label="Pages">
          <ul>
            {places.map(([place, label, isThere]) =>
              isThere ? (
                <li key={place}>
                  <a href={base + place} aria-current={isHere(place) ? "page" : undefined}>
                    {label}
                  </a>
                </li>
              ) : null,
            )}
          </ul>
        </nav>
      </div>
    </header>
  );
}

function Connected(): VNode {
  const connection = useConnection();
  return <span class={`status ${connection === "live" ? "good" : "warn"}`}>{connection}</span>;
}

function StoreState(): VNode {
  const connection = useConnection();
  return (
    <div role="status">
      {connection === "store away" && (
        <p class="notice bad">
          The store can't be reached or takes no new runs. What you see may be old; it is looked at
          again by itself.
        </p>
      )}
    </div>
  );
}

/** What came of the last action, until somebody goes to another page. */
function LastSaid({
  said,
  forget,
}: {
  readonly said: Said | undefined;
  readonly forget: () => void;
}): VNode {
  const { path } = useLocation();
  useEffect(forget, [path]);
  return (
    <div role="status">
      {said !== undefined && <p class={`notice ${said.tone}`}>{said.text}</p>}
    </div>
  );
}

function Nowhere(): VNode {
  return (
    <>
      <Heading>Nothing here</Heading>
      <p>
        There is no such page. <a href={`${base}/`}>To the overview</a>
      </p>
    </>
  );
}

async function signOut(): Promise<void> {
  // A session that is over is what was wanted.
  await post("signout").catch(() => undefined);
  location.assign(`${base}/signin`);
}
