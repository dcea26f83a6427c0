/**
 * Conversations with the shop, as a person at a client would have them.
 */

/** One call and the answers to its questions. */
export interface ScenarioCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Answers by ask key. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Whether the client gives an idempotency key: tools with a key of their own need none. */
  readonly keyed?: boolean;
}

/** Calls made one after the other. */
export interface Scenario {
  readonly name: string;
  readonly calls: readonly ScenarioCall[];
}

const yes = { action: "accept", content: { confirm: true } };
const no = { action: "decline" };

/** A call that asks for a confirmation and gets a yes. */
export function confirmed(tool: string, args: ScenarioCall["args"]): ScenarioCall {
  return { tool, args, answers: { confirm: yes } };
}

const order = { orderId: "1001" };

/** `refund_order`, confirmed. */
export const refundAccepted: Scenario = {
  name: "refund_order, accepted",
  calls: [confirmed("refund_order", order)],
};

/** `refund_order`, declined, then called again and confirmed. */
const refundDeclinedFirst: Scenario = {
  name: "refund_order, declined, then accepted",
  calls: [
    { tool: "refund_order", args: order, answers: { confirm: no } },
    confirmed("refund_order", order),
  ],
};

const tripTo = (city: string): ScenarioCall => ({
  tool: "book_trip",
  args: { city },
  answers: {
    dates: { action: "accept", content: { departure: "2027-03-01", nights: 3 } },
    comfort: { action: "accept", content: { travelClass: "economy", hotelStars: "4" } },
    confirm: yes,
  },
  keyed: true,
});

/** `book_trip`: two questions at once, one that depends on both, two bookings. */
const tripBooked: Scenario = { name: "book_trip", calls: [tripTo("Lisbon")] };

/** `book_trip` to where no hotel has a room: the flight is booked, and undone. */
const tripUndone: Scenario = { name: "book_trip, undone", calls: [tripTo("Atlantis")] };

/** What the kill and cut matrices go through. */
export const scenarios: readonly Scenario[] = [
  refundAccepted,
  refundDeclinedFirst,
  tripBooked,
  tripUndone,
];
