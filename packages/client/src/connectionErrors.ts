/**
 * What the official client throws, as what it means to a caller of this package.
 *
 * Called where a connection is opened and where a request is sent. What a server refused (`ProtocolError`) and what the repeats
 * decide about (a broken connection, "later") passes unchanged.
 */
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import { judge } from "./retry.ts";

/** For a request on an open connection. */
export function translate(error: unknown): unknown {
  const status = error instanceof SdkHttpError ? error.status : undefined;
  if (error instanceof UnauthorizedError || status === 401) {
    return new RepriseError("UNAUTHORIZED", "The server wants a valid token.", { cause: error });
  }
  return error;
}

/** For opening a connection to `url`: whoever refuses both eras, or answers in another language, is no server for this client. */
export function translateOpening(error: unknown, url: URL): unknown {
  const translated = translate(error);
  if (translated !== error || judge(error).kind !== "final") return translated;
  if (error instanceof SdkHttpError) {
    return error.status === 403 ? error : noServer(url, error, `HTTP ${error.status}`);
  }
  if (
    error instanceof UnsupportedProtocolVersionError ||
    error instanceof ProtocolError ||
    (error instanceof SdkError && speaksOtherwise.has(error.code))
  ) {
    return noServer(url, error, error.message);
  }
  // The official client has no class for a handshake that ends with a revision it does not know.
  if (error instanceof Error && error.constructor === Error) {
    return noServer(url, error, error.message);
  }
  return error;
}

/**
 * For a call on the handshake era: one that broke is final, since its server may be executing it and knows no repeat of it.
 * What never left this machine passes, to be repeated.
 */
export function lostCall(error: unknown): unknown {
  if (judge(error).kind !== "broken" || neverSent(error)) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new RepriseError(
    "SERVER_UNREACHABLE",
    `The call broke and could not be gone on with: ${why}. The server may have executed it, so it was not sent again.`,
    { cause: error },
  );
}

/** Whether fetch failed before there was a connection: it says so in a cause of its cause. */
function neverSent(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ("code" in each && notConnected.has(String(each.code))) return true;
  }
  return false;
}

const notConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const speaksOtherwise: ReadonlySet<string> = new Set([
  SdkErrorCode.EraNegotiationFailed,
  SdkErrorCode.InvalidResult,
  SdkErrorCode.ClientHttpUnexpectedContent,
]);

function noServer(url: URL, cause: Error, why: string): RepriseError {
  return new RepriseError(
    "UNSUPPORTED_VERSION",
    `There is no MCP server of a revision that this client speaks at ${url.href} (${why}): check the address and its path.`,
    { cause },
  );
}
