/**
 * The parts of the lane, joined: made once for each front, before its first request.
 */
import { randomBytes } from "node:crypto";
import type { PublishedResource } from "../auth/protectedResource.ts";
import type { ScopeRule } from "../auth/scopes.ts";
import type { FrontConfig } from "../options.ts";
import { Wheel } from "../wheel.ts";
import type { LegacyCall } from "./call.ts";
import type { CallPorts } from "./callPorts.ts";
import { CallerLimits } from "./limits.ts";
import { Notices } from "./notices.ts";
import type { LegacyConfig } from "./options.ts";
import { Presence } from "./presence.ts";
import { LegacyRequests } from "./requests.ts";
import type { ResumedStreams } from "./resumedStream.ts";
import { SessionRecords } from "./sessionRecord.ts";
import { SessionStreams } from "./sessionStreams.ts";
import { SessionTokens } from "./sessionToken.ts";

/** All parts. */
export interface LaneParts {
  readonly ports: CallPorts;
  readonly tokens: SessionTokens;
  readonly records: SessionRecords;
  readonly streams: SessionStreams;
  readonly resumed: ResumedStreams;
  readonly notices: Notices;
  readonly requests: LegacyRequests;
  /** Undefined where there is none, or no auth. */
  readonly protectedResource: PublishedResource | undefined;
  /** Hears of the server's changes no more. */
  readonly endChanges: () => void;
}

/** 144 bits, base64url: ids of sessions, streams and runs, and the name of a front. */
export function randomId(): string {
  return randomBytes(18).toString("base64url");
}

/** Makes the parts. `failed` is told of what fails and is nobody's answer. */
export function assembleLane(
  front: FrontConfig,
  config: LegacyConfig,
  scopes: ScopeRule | undefined,
  failed: (error: unknown) => void,
): LaneParts {
  const { runtime, clock, heartbeatMs, commitAfterMs, pageSize } = front;
  const { shared, catalog } = runtime;
  const calls = new Map<string, LegacyCall>();
  const resumed: ResumedStreams = new Map();
  const wheel = new Wheel(clock);
  const records = new SessionRecords(shared);
  const me = randomId();
  const presence = new Presence(me, {
    ...{ shared, clock, wheel, failed },
    leaseMs: config.leaseMs,
    isNeeded: () => calls.size + streams.size > 0,
    lapsed: () => {
      for (const call of calls.values()) void call.look();
    },
  });
  const notices = new Notices(
    shared,
    me,
    {
      look(callId) {
        void calls.get(callId)?.look();
        resumed.get(callId)?.notice();
      },
      cancel: (callId, reason) => void calls.get(callId)?.cancel(reason),
      sessionEnded(sessionId) {
        streams.end(sessionId);
        for (const call of calls.values())
          if (call.session.id === sessionId) void call.sessionEnded();
        for (const each of resumed.values()) if (each.session.id === sessionId) each.end();
      },
    },
    failed,
  );
  const ports: CallPorts = {
    ...{ runtime, shared, clock, wheel, presence, me, config, heartbeatMs, commitAfterMs },
    ...{ calls, failed },
    takeOvers: new Map(),
    limits: new CallerLimits(config),
    tell: (to, callId) => {
      if (to !== me) notices.look(to, callId);
    },
    cancelRun: (runId, principal, reason) => {
      runtime.cancel(runId, { principal, reason }).catch(failed);
    },
  };
  const streams = new SessionStreams(records, ports);
  const endChanges = runtime.onChange((change) => {
    if (change.kind !== "elicitationCompleted") streams.tell(change);
    else for (const call of calls.values()) call.elicitationCompleted(change.id);
  });
  const methodPorts = { catalog, records, pageSize, scopes };
  return {
    ...{ ports, records, streams, resumed, notices, endChanges },
    protectedResource: front.protectedResource,
    tokens: new SessionTokens(runtime.sealer, runtime.audience, clock),
    requests: new LegacyRequests(methodPorts, ports, randomId),
  };
}
