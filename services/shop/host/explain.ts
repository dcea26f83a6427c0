/**
 * What a message is, in words for somebody who sees the protocol for the first time.
 *
 * Pure. The words say what the message does and what follows from it on its revision; what is not known is called by its method.
 */
import type { Passed } from "./recorder.ts";

/** A heading and a sentence. */
export interface Explained {
  readonly title: string;
  readonly why: string;
}

/** Explains one thing that passed. `isLegacy`: on a revision with the initialize handshake. */
export function explain({ direction, message, text, line }: Passed, isLegacy: boolean): Explained {
  if (message === undefined) return withoutMessage(direction, line, text);
  const { method } = message;
  if (typeof method === "string") {
    if ("id" in message) return ofRequest(method, message, direction);
    return (
      notifications.get(method) ?? { title: method, why: "A notification: nobody answers it." }
    );
  }
  if ("error" in message) return ofError(message["error"], direction);
  return ofResult(message["result"], direction, isLegacy);
}

function withoutMessage(
  direction: Passed["direction"],
  line: string,
  text: string | undefined,
): Explained {
  if (direction === "sent") {
    return line.startsWith("GET")
      ? {
          title: "The session's own stream",
          why: "Listens for what the server says outside of calls.",
        }
      : { title: "No message", why: "A request without a message: it ends the session." };
  }
  if (text !== undefined) return { title: "No answer", why: text };
  return line.startsWith("202")
    ? {
        title: "Accepted",
        why: "The server took the message. HTTP wants an answer; there is nothing to say.",
      }
    : { title: "No message", why: `HTTP ${line}` };
}

function ofRequest(
  method: string,
  message: Readonly<Record<string, unknown>>,
  direction: Passed["direction"],
): Explained {
  const params = bag(message["params"]);
  if (direction === "received")
    return questions.get(method) ?? { title: method, why: "The server asks." };
  if (method === "tools/call" && ("inputResponses" in params || "requestState" in params)) {
    return {
      title: "The same call again, with the answers",
      why: "A new request with a new id: the tool, the answers under the keys that were asked, and the server's state as it came. Any instance can take it.",
    };
  }
  return requests.get(method) ?? { title: method, why: "A request." };
}

function ofResult(value: unknown, direction: Passed["direction"], isLegacy: boolean): Explained {
  if (direction === "sent") {
    return {
      title: "The person's answer",
      why: "The response to the server's question, in a POST of its own. The open call goes on.",
    };
  }
  const result = bag(value);
  if (result["resultType"] === "input_required") {
    return {
      title: "The server asks, and the request is over",
      why: "Nothing waits at the server now: no worker, no connection. What it needs to go on is in requestState, which only it can read.",
    };
  }
  if (Array.isArray(result["tools"])) {
    return { title: "The tools", why: "Names, words for them, and the schema of their arguments." };
  }
  if ("protocolVersion" in result) {
    return {
      title: "The session begins",
      why: "The revision that both speak, and what the server can.",
    };
  }
  if ("supportedVersions" in result) {
    return {
      title: "What the server is",
      why: "Its revisions and capabilities. No session: every request stands for itself.",
    };
  }
  if (result["isError"] === true) {
    return {
      title: "The tool failed",
      why: "A result all the same: a model can read it and try something else.",
    };
  }
  if ("content" in result) {
    return {
      title: "The result",
      why: isLegacy
        ? "The response to the one request of this call, which was open all along."
        : "The call is over.",
    };
  }
  return { title: "A response", why: "" };
}

function ofError(value: unknown, direction: Passed["direction"]): Explained {
  const { code, message } = bag(value);
  const title = direction === "sent" ? "Refused by this side" : "Refused by the server";
  return { title, why: `Error ${String(code)}: ${String(message)}` };
}

const requests = wordsFor({
  "tools/call": {
    title: "Calls the tool",
    why: "With an idempotency key in _meta: a repeat of this call under the same key joins it.",
  },
  "tools/list": { title: "Asks for the tools", why: "What can be called here?" },
  "server/discover": {
    title: "Asks what the server is",
    why: "Runs no handler, and tells a server of 2026-07-28 from an older one.",
  },
  initialize: { title: "Begins a session", why: "The handshake of revisions up to 2025-11-25." },
  "logging/setLevel": { title: "Wants log messages", why: "For the whole session." },
});

const questions = wordsFor({
  "elicitation/create": {
    title: "The server asks, while the call stays open",
    why: "A request of the server on the call's stream. The connection is held until the person has answered.",
  },
  "sampling/createMessage": {
    title: "The server asks for a model's answer",
    why: "A request of the server on the call's stream; the person decides about prompt and answer.",
  },
  "roots/list": {
    title: "The server asks for folders",
    why: "A request of the server on the call's stream.",
  },
});

const notifications = wordsFor({
  "notifications/initialized": { title: "Ready", why: "The handshake is over." },
  "notifications/progress": { title: "Progress", why: "How far the running request is." },
  "notifications/message": {
    title: "A line of the log",
    why: "Sent because this page asked for it.",
  },
  "notifications/cancelled": { title: "The call is given up", why: "The server shall end it." },
  "notifications/elicitation/complete": {
    title: "The page is done",
    why: "The server says that what the page was for is complete.",
  },
});

/** A Map, because methods come from the server: `constructor` is none of ours. */
function wordsFor(words: Readonly<Record<string, Explained>>): ReadonlyMap<string, Explained> {
  return new Map(Object.entries(words));
}

function bag(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
