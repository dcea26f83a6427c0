/**
 * What happened in a simulation, a line a thing, for a person who looks for the moment at which it went wrong.
 */
import type { Happening } from "./world.ts";

/** One line. */
export function toldHappening(one: Happening): string {
  switch (one.is) {
    case "attempt":
      return `${one.instance} begins an attempt at round ${one.round} of ${one.run}, state ${one.state}`;
    case "entered":
      return `${one.instance} enters step ${one.name} of ${one.run} with ${one.inputs}, key ${one.key}`;
    case "done": {
      const how = one.repeated ? "is asked again for" : "does";
      return `the remote ${how} ${one.step} of ${one.run} for ${one.instance}, key ${one.key}`;
    }
    case "threw":
      return `the remote ${one.how === "refused" ? "refuses" : "breaks at"} ${one.step} of ${one.run}, key ${one.key}`;
    case "undone": {
      const how = one.repeated ? "is asked again to undo" : "undoes";
      return `the remote ${how} ${one.step} of ${one.run} for ${one.instance}, key ${one.key}`;
    }
    case "cancelled":
      return `${one.run} is cancelled by ${one.instance}`;
    case "expired":
      return `the store tells ${one.instance} that a deadline of ${one.run} has passed`;
    case "tookLate":
      return `the store takes an answer of ${one.run} for ${one.instance}, ${one.lateMs} ms too late`;
    case "read":
      return `the remote is read for ${one.step}`;
    case "gotPage": {
      const how = one.completed ? "completed" : "not completed";
      return `${one.instance} has the page of ${one.ask} of ${one.run}: ${how}, after ${one.tookMs} ms`;
    }
    case "storeUsed":
      return `${one.instance} makes a call of the store: ${one.what}`;
    case "recorded":
      return `the store records of ${one.run}, attempt ${one.epoch} by ${one.instance}: ${one.entries.join(", ") || "no entry"}`;
    case "claimed":
      return `the store gives attempt ${one.epoch} of ${one.run} to ${one.instance}, with ${one.entries.join(", ") || "no entry"}`;
    case "fenced":
      return `the store refuses a write of ${one.instance} to ${one.run}`;
    case "crashed":
      return `${one.instance} dies ${one.at}`;
    case "paused":
      return `${one.instance} stands still ${one.at}`;
    case "resumed":
      return `${one.instance} goes on`;
    case "storeFailed":
      return `the store fails for ${one.instance} ${one.at}`;
    case "gone":
      return `the client of ${one.instance} goes away ${one.at}`;
    case "network":
      return `the network ${one.what}`;
  }
}
