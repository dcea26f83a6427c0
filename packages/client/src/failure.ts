/**
 * What a person is told of a call that rejected: a code, what happened, and what can be done.
 *
 * Called by hosts with whatever `connect` or a call rejected with. Decides by codes only: that of a RepriseError, the registry's
 * name in the data of a server's error (servers of Reprise send it), else the JSON-RPC code where one row alone has it.
 */
import { ProtocolError, SdkError } from "@modelcontextprotocol/client";
import { type ErrorCode, errorCodes, errorSpecs, isRepriseError } from "@reprise/errors";

/** A failure to be shown. `message` may be a server's text: neutralise it before it is printed. */
export interface Failure {
  /** A code of docs/errors.md where it has one, else the number or name that the protocol has for it, else `ERROR`. */
  readonly code: string;
  readonly message: string;
  /** What the person can do; absent where nobody knows. */
  readonly remedy?: string;
  /** What a server sent along with its error. */
  readonly data?: unknown;
}

/** Never throws, whatever it is given. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (isRepriseError(error)) {
    const { remedy } = errorSpecs[error.code];
    return { code: error.code, message, remedy, ...present(error.data) };
  }
  if (error instanceof ProtocolError) {
    const code = registryCode(error.code, error.data);
    if (code === undefined) return { code: String(error.code), message, ...present(error.data) };
    return { code, message, remedy: errorSpecs[code].remedy, ...present(error.data) };
  }
  return { code: error instanceof SdkError ? error.code : "ERROR", message };
}

function registryCode(rpcCode: number, data: unknown): ErrorCode | undefined {
  const named = typeof data === "object" && data !== null && "code" in data ? data.code : undefined;
  const byName = errorCodes.find((code) => code === named);
  if (byName !== undefined) return byName;
  const [only, ...others] = errorCodes.filter((code) => errorSpecs[code].rpcCode === rpcCode);
  return others.length === 0 ? only : undefined;
}

function present(data: unknown): { readonly data?: unknown } {
  return data === undefined ? {} : { data };
}
