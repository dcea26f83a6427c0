/**
 * The port of a way to sign in. The plugin serves the pages; a way says what is on them and who came back.
 */
import type { Clock, Logger } from "@reprise/runtime";
import type { Person } from "./sessions.ts";

/** What a request to a sign-in page carries. */
export interface Arrival {
  /** Path and query below the dashboard's own path, such as `enter?link=...`. */
  readonly query: URLSearchParams;
  /** Value of the cookie that `begin` gave, if the browser still has it. */
  readonly transaction: string | undefined;
}

/** What became of an arrival. */
export type Entrance =
  | { readonly ok: true; readonly person: Person; readonly to: string | undefined }
  /** `why` is shown to the person: it must not say more than that it did not work, and what to do. */
  | { readonly ok: false; readonly why: string };

/** What beginning gives. */
export type Beginning =
  /** The browser goes to `location`; `transaction` comes back with it, at most 10 minutes later. */
  | { readonly kind: "redirect"; readonly location: string; readonly transaction: string }
  /** The person is told. */
  | { readonly kind: "told"; readonly text: string };

/** What a way to sign in is given when the dashboard starts. */
export interface SignInContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** For what a browser carries from `begin` to `enter`, which may come to another dashboard of the deployment. */
  readonly wrapping: CarriedText;
}

/** Texts that a browser carries unread and unaltered. Both methods reject with RepriseError STORE_UNAVAILABLE. */
export interface CarriedText {
  wrap(text: string): Promise<string>;
  /** Undefined for what this deployment did not wrap, and for what was altered. */
  unwrap(wrapped: string): Promise<string | undefined>;
}

/** A way to sign in. */
export interface SignIn {
  /** Words of the page that a stranger sees. */
  readonly invitation: string;
  /** Words of its only button. */
  readonly button: string;
  /** Whether only loopback may be served: the plugin refuses everything on another address. */
  readonly loopbackOnly: boolean;
  /** Whether the browser reaches the dashboard over https, so that the cookie is sent over nothing else. */
  readonly secure: boolean;
  start(context: SignInContext): void;
  /** The button was pressed. `to` is where the person wanted to go. Rejections are shown as "try again". */
  begin(to: string | undefined): Promise<Beginning>;
  /** The browser came to `enter`. */
  enter(arrival: Arrival): Promise<Entrance>;
}
