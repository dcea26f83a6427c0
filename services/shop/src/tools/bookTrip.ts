/**
 * A tool with three questions in two rounds: two that are asked together, and one that depends on both. What it booked is taken
 * back when it can't book the rest.
 */
import { CallerError, StepError, type ToolDefinition, tool, type UndoContext } from "reprise";
import * as z from "zod";
import { formatMoney } from "../money.ts";
import type { Payments } from "../payments/client.ts";
import type { Booking } from "../payments/model.ts";

const dates = z.object({
  departure: z.iso.date().describe("Day of departure"),
  nights: z.int().min(1).max(30).describe("Nights in the hotel"),
});
const comfort = z.object({
  travelClass: z.enum(["economy", "business"]).describe("Class of the flight"),
  hotelStars: z.enum(["3", "4", "5"]).describe("Stars of the hotel"),
});

/**
 * `book_trip {city}`: asks for dates and comfort, confirms the price, books flight and hotel in this order. When the hotel can't
 * be booked, or the call is cancelled, the flight is cancelled as well.
 */
export function bookTrip(payments: Payments): ToolDefinition {
  const cancel = async (
    booked: Booking | undefined,
    { stepIdempotencyKey, ...call }: UndoContext,
  ): Promise<void> => {
    // Nobody may know whether a booking came about: the service does.
    const booking = booked ?? (await payments.bookingWith(stepIdempotencyKey));
    if (booking !== undefined) await payments.cancel(booking, call);
  };

  return tool({
    name: "book_trip",
    description: "Book a flight and a hotel after the traveller confirms the price",
    input: z.object({ city: z.string().min(1).describe("For example Lisbon") }),
    async handler({ city }, ctx) {
      const [when, how] = await Promise.all([
        ctx.elicit(`When do you want to go to ${city}?`, dates, { key: "dates" }),
        ctx.elicit("How do you want to travel?", comfort, { key: "comfort" }),
      ]);
      if (when.action !== "accept" || how.action !== "accept") return "Nothing was booked.";

      const { departure, nights } = when.content;
      const quote = await ctx.read("quote", () =>
        payments.quote({ city, departure, nights, ...how.content }),
      );
      const stay = `${nights} ${nights === 1 ? "night" : "nights"} in ${city} from ${departure}`;
      if (!(await ctx.confirm(`Book ${stay} for ${formatMoney(quote.total)}?`))) {
        return "Nothing was booked.";
      }

      const place = { city, departure, nights };
      try {
        const flight = await ctx.step(
          "book flight",
          (step) => payments.book({ kind: "flight", ...place, ...quote.flight }, step),
          { undo: cancel },
        );
        const hotel = await ctx.step(
          "book hotel",
          (step) => payments.book({ kind: "hotel", ...place, ...quote.hotel }, step),
          { undo: cancel },
        );
        return `Booked ${stay}: ${flight.id} and ${hotel.id}, ${formatMoney(quote.total)}.`;
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        const part = error.step === "book flight" ? "flight" : "hotel";
        throw new CallerError(`No ${part} could be booked in ${city}; the trip is not booked.`);
      }
    },
  });
}
