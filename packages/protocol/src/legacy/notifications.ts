/**
 * Notifications that only legacy clients get, as text. Progress and log messages are the same on all revisions:
 * responses.ts.
 */
import type { JsonObject } from "../json.ts";
import type { RequestId } from "../jsonRpc.ts";

/** Which list changed. */
export type ChangedList = "tools" | "prompts" | "resources";

/** `notifications/<list>/list_changed`. */
export function listChangedNotification(list: ChangedList): string {
  return notification(`notifications/${list}/list_changed`);
}

/** `notifications/resources/updated`. */
export function resourceUpdatedNotification(uri: string): string {
  return notification("notifications/resources/updated", { uri });
}

/** `notifications/cancelled`: withdraws an ask of ours. */
export function cancelledNotification(requestId: RequestId, reason: string): string {
  return notification("notifications/cancelled", { requestId, reason });
}

/** `notifications/elicitation/complete`, of 2025-11-25 only: the page of a URL ask is done. */
export function elicitationCompleteNotification(elicitationId: string): string {
  return notification("notifications/elicitation/complete", { elicitationId });
}

function notification(method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
}
