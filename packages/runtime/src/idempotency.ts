/**
 * Which idempotency key a first call has (docs/design.md 4.3): the author's, else the client's.
 */
import { RepriseError } from "@reprise/errors";
import { digestOf, sha256, stableParams } from "./digest.ts";
import { type EngineDeps, runnable } from "./engineDeps.ts";
import type { RunRequest } from "./runtimeTypes.ts";

/** A key, as the store wants it. */
export interface IdempotencyKey {
  /** Digest of scope, tool and key. */
  readonly scope: string;
  readonly perCaller: boolean;
  readonly argsDigest: string;
}

/** 128 bits take 22 characters of base64url. */
const MIN_CLIENT_KEY = 22;
const MAX_CLIENT_KEY = 512;

/** The key of a first call; undefined when it has none. @throws RepriseError INVALID_IDEMPOTENCY_KEY */
export function idempotencyOf(
  deps: Pick<EngineDeps, "audience">,
  request: RunRequest,
): IdempotencyKey | undefined {
  const handler = runnable(request);
  const { idempotency } = handler;
  const own = idempotency?.key(request.args, { caller: request.caller });
  if (own !== undefined && own !== "") {
    return keyOf(deps, request, "author", own, idempotency?.scope !== "tool");
  }
  const { idempotencyKey } = request;
  if (idempotencyKey === undefined) return undefined;
  const anonymous = request.caller.principal === "anonymous";
  const least = anonymous ? MIN_CLIENT_KEY : 1;
  if (
    typeof idempotencyKey !== "string" ||
    idempotencyKey.length < least ||
    idempotencyKey.length > MAX_CLIENT_KEY
  ) {
    throw new RepriseError(
      "INVALID_IDEMPOTENCY_KEY",
      `_meta["reprise/idempotencyKey"] must be a text of ${least} to ${MAX_CLIENT_KEY} characters${anonymous ? "; without auth a key that can be guessed would show a stranger's result" : ""}`,
    );
  }
  return keyOf(deps, request, "client", idempotencyKey, true);
}

function keyOf(
  deps: Pick<EngineDeps, "audience">,
  request: RunRequest,
  source: "author" | "client",
  key: string,
  perCaller: boolean,
): IdempotencyKey {
  const owner = perCaller ? request.caller.principal : "";
  const { kind, name } = request.handler;
  const scope = scopeOf(deps.audience, kind, name, source, owner, key);
  return { scope, perCaller, argsDigest: digestOf(stableParams(request.params)) };
}

function scopeOf(
  audience: string,
  kind: string,
  name: string,
  source: "author" | "client",
  owner: string,
  key: string,
): string {
  const text = JSON.stringify([audience, kind, name, source, owner, key]);
  return sha256(text).slice(0, MIN_CLIENT_KEY);
}

/**
 * The scopes that a key of a handler may have: the author's and the client's, the caller's own and the tool's.
 *
 * @param principal undefined: only those that all callers share
 */
export function scopesOf(
  audience: string,
  name: string,
  key: string,
  principal: string | undefined,
): readonly string[] {
  const owners = principal === undefined ? [""] : [principal, ""];
  return ["tool", "prompt", "resource", "resourceTemplate"].flatMap((kind) =>
    (["author", "client"] as const).flatMap((source) =>
      owners.map((owner) => scopeOf(audience, kind, name, source, owner, key)),
    ),
  );
}
