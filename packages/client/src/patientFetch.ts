/**
 * Node's fetch without its limits on silence.
 *
 * `connect` uses it unless the program gives a fetch of its own. Node's fetch ends a response on which nothing came for five
 * minutes, and there is no setting for it: a call of the handshake era whose server sends no comments would be lost while its
 * person thinks. How long a server may be silent is decided by `requestTimeoutMs` (silence.ts, and the official client's own
 * timer); what this lets go on for ever, those end.
 *
 * fetch takes a dispatcher for each request, and one that asks Node's own to wait needs neither a second HTTP client nor its
 * connection pool. It is looked up each time: a program may have set another, for a proxy. Where this Node has none under that
 * name, or another runtime ignores it, the limits stay as they are.
 */
import type { FetchLike } from "@modelcontextprotocol/client";

/** The name under which every copy of Node's HTTP client in a process finds the dispatcher in use. */
const inUse = Symbol.for("undici.globalDispatcher.1");

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** fetch, as patient as its caller. */
export const patientFetch: FetchLike = (url, init) => {
  if (dispatcherInUse() === undefined) return fetch(url, init);
  // The type asks for a whole dispatcher, with its pools; fetch calls one function of it.
  const dispatcher = unlimited as unknown as NonNullable<RequestInit["dispatcher"]>;
  return fetch(url, { ...init, dispatcher });
};

const unlimited: Dispatcher = {
  dispatch(options, handler) {
    const dispatcher = dispatcherInUse();
    if (dispatcher === undefined) throw new TypeError("the process's HTTP dispatcher is gone");
    return dispatcher.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

function dispatcherInUse(): Dispatcher | undefined {
  // Node loads its HTTP client, and sets this, with the first use of what belongs to it.
  void new Headers();
  const found: unknown = Reflect.get(globalThis, inUse);
  return isDispatcher(found) ? found : undefined;
}

function isDispatcher(value: unknown): value is Dispatcher {
  return (
    typeof value === "object" &&
    value !== null &&
    "dispatch" in value &&
    typeof value.dispatch === "function"
  );
}
