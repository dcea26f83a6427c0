/**
 * A call on a server of the handshake era: one request that stays open until its result, over all its questions.
 *
 * Called by the call loop; calls the exchange and the incoming asks. Invariants:
 *
 * 1. The request is sent once. It is sent again only where nothing can have been executed: no connection came about, the session
 *    was unknown (404), or the server said so (`retryAfterMs`, -32042). A stream that breaks is gone on with by `Last-Event-ID`
 *    where the server numbers its events; else the call is lost, with SERVER_UNREACHABLE.
 * 2. Nothing of it is stored: the open stream is the only thread to it, and the person's answers leave through it at once.
 */
import { ProtocolError, type Tool } from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import { CallInFlight, type InFlightOptions } from "./callInFlight.ts";
import type { Connection, RoundOptions } from "./connection.ts";
import { lostCall } from "./connectionErrors.ts";
import { exchange, type Repeating } from "./exchange.ts";
import type { UrlAsk } from "./host.ts";
import { parseAsk } from "./parseAsks.ts";
import type { SavedCall } from "./savedCall.ts";

/** MCP 2025-11-25, elicitation, "URL Elicitation Required Error": visit the pages, then call again. */
const PAGES_REQUIRED = -32042;

/** What the call loop gives to a call of this era. */
export interface LegacyCallOptions extends Omit<InFlightOptions, "server"> {
  readonly repeat: Repeating;
  readonly onProgress?: RoundOptions["onProgress"];
  /** The connection to use now; a new one after `reopen`. */
  readonly connection: () => Connection;
  /** Replaces a connection whose session the server no longer knows. */
  readonly reopen: (ended: Connection) => Promise<void>;
}

/** The result of a call, with the tool's definition as far as there is one. */
export async function callLegacy(
  call: SavedCall,
  options: LegacyCallOptions,
): Promise<{
  readonly result: Readonly<Record<string, unknown>>;
  readonly tool: Tool | undefined;
}> {
  const { server } = options.connection();
  const flight = new CallInFlight(call.request, { ...options, server });
  try {
    return await send(call, flight, options);
  } catch (error) {
    // The official client makes an error of its own of an abort; the reason says more.
    throw lostCall(flight.signal.aborted ? flight.signal.reason : error);
  } finally {
    flight.end();
  }
}

async function send(
  call: SavedCall,
  flight: CallInFlight,
  options: LegacyCallOptions,
): Promise<{
  readonly result: Readonly<Record<string, unknown>>;
  readonly tool: Tool | undefined;
}> {
  let reopened = false;
  for (;;) {
    const connection = options.connection();
    try {
      const { round, tool } = await connection.asks.during(flight, async () =>
        exchange(connection, call, options.repeat, {
          signal: flight.signal,
          ...heardProgress(flight, options.onProgress),
        }),
      );
      if (round.kind === "complete") return { result: round.result, tool };
      throw new RepriseError(
        "CLIENT_CANNOT_ANSWER",
        "The server asked in a result, which its revision does not have.",
      );
    } catch (error) {
      flight.signal.throwIfAborted();
      if (!reopened && connection.isSessionEnd(error)) {
        reopened = true;
        await options.reopen(connection);
        continue;
      }
      const pages = requiredPages(error, flight);
      if (pages.length === 0 || !(await connection.asks.visitAll(flight, pages))) throw error;
    }
  }
}

function heardProgress(
  flight: CallInFlight,
  onProgress: RoundOptions["onProgress"],
): Pick<RoundOptions, "onProgress"> {
  if (onProgress === undefined) return {};
  return {
    onProgress: (progress) => {
      flight.heard();
      onProgress(progress);
    },
  };
}

/** The pages that a refusal names; none for any other error. */
function requiredPages(error: unknown, flight: CallInFlight): readonly UrlAsk[] {
  if (!(error instanceof ProtocolError) || error.code !== PAGES_REQUIRED) return [];
  const { elicitations } = (error.data ?? {}) as { readonly elicitations?: unknown };
  if (!Array.isArray(elicitations)) return [];
  return elicitations.map((params: unknown) => {
    const ask = parseAsk(flight.nameFor("elicitUrl"), { method: "elicitation/create", params });
    if (ask.kind !== "url") throw error;
    return ask;
  });
}
