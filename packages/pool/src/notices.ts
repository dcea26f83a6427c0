/**
 * Notifications of a handler on their way from a worker to the front that holds the response.
 */
import type { JsonValue } from "@reprise/journal";
import type { NotificationSink } from "@reprise/runtime";
import type { Mail } from "./mails.ts";

/** What the one who waits wants to hear. */
export interface Wants {
  readonly progress?: true;
  readonly log?: true;
  readonly asksChecked?: true;
}

/** A mail that is a notification. */
export type Notice = Exclude<Mail, { readonly kind: "reply" | "done" }>;

/** What a sink wants. */
export function wantsOf(sink: NotificationSink | undefined): Wants {
  return {
    ...(sink?.progress === undefined ? {} : { progress: true }),
    ...(sink?.log === undefined ? {} : { log: true }),
    ...(sink?.asksChecked === undefined ? {} : { asksChecked: true }),
  };
}

/** The sink that a handler's notifications go to in the worker. */
export function sinkFor(
  id: string,
  wants: Wants,
  send: (notice: Notice) => void,
): NotificationSink | undefined {
  if (Object.keys(wants).length === 0) return undefined;
  return {
    ...(wants.progress === true && {
      progress: (value: number, total: number | undefined, message: string | undefined) =>
        send({ id, kind: "progress", value, total, message }),
    }),
    ...(wants.log === true && {
      log: (level: string, data: JsonValue, logger: string | undefined) =>
        send({ id, kind: "log", level, data, logger }),
    }),
    ...(wants.asksChecked === true && { asksChecked: () => send({ id, kind: "asksChecked" }) }),
  };
}

/** Gives a notification to the one who waits. */
export function notify(sink: NotificationSink | undefined, notice: Notice): void {
  switch (notice.kind) {
    case "progress":
      sink?.progress?.(notice.value, notice.total, notice.message);
      return;
    case "log": {
      const level = notice.level as Parameters<NonNullable<NotificationSink["log"]>>[0];
      sink?.log?.(level, notice.data, notice.logger);
      return;
    }
    case "asksChecked":
      sink?.asksChecked?.();
  }
}
