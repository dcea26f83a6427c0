/**
 * Counts of what the front answered, in the Prometheus text format.
 *
 * Two counters and a gauge do not justify a metrics library on the path of every call. Labels are bounded:
 * methods are those served (anything else is `other`), outcomes are the error registry's codes and a few words.
 */

/** Counters of one front. */
export class FrontMetrics {
  readonly #requests = new Map<string, Map<string, number>>();
  #streams = 0;
  #droppedNotifications = 0;

  /** Counts a request's end. */
  requestEnded(method: string, outcome: string): void {
    let outcomes = this.#requests.get(method);
    if (outcomes === undefined) {
      outcomes = new Map();
      this.#requests.set(method, outcomes);
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  /** Counts a stream that opened (1) or closed (-1). */
  streamsChanged(by: 1 | -1): void {
    this.#streams += by;
  }

  /** Counts a notification that was not sent because the client reads too slowly. */
  notificationDropped(): void {
    this.#droppedNotifications += 1;
  }

  /** All of it as text. */
  render(): string {
    const requests = [...this.#requests].flatMap(([method, outcomes]) =>
      [...outcomes].map(
        ([outcome, count]) =>
          `reprise_front_requests_total{method="${method}",outcome="${outcome}"} ${count}\n`,
      ),
    );
    return [
      "# HELP reprise_front_requests_total Requests to the MCP endpoint by method and outcome.\n",
      "# TYPE reprise_front_requests_total counter\n",
      ...requests,
      "# HELP reprise_front_streams Event streams that are open.\n",
      "# TYPE reprise_front_streams gauge\n",
      `reprise_front_streams ${this.#streams}\n`,
      "# HELP reprise_front_notifications_dropped_total Notifications not sent to slow clients.\n",
      "# TYPE reprise_front_notifications_dropped_total counter\n",
      `reprise_front_notifications_dropped_total ${this.#droppedNotifications}\n`,
    ].join("");
  }
}
