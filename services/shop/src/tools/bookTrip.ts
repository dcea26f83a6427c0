/**
 * A tool with three questions in two rounds: two that are asked together, and one that depends on both.
 */
import { type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import { formatMoney } from "../money.ts";
import type { Payments } from "../payments/client.ts";

const dates = z.object({
  departure: z.iso.date().describe("Day of departure"),
  nights: z.int().min(1).max(30).describe("Nights in the hotel"),
});
const comfort = z.object({
  travelClass: z.enum(["economy", "business"]).describe("Class of the flight"),
  hotelStars: z.enum(["3", "4", "5"]).describe("Stars of the hotel"),
});

/** `book_trip {city}`: asks for dates and comfort, confirms the price, books flight and hotel in this order. */
export function bookTrip(payments: Payments): ToolDefinition {
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
      const flight = await ctx.step("book flight", (step) =>
        payments.book({ kind: "flight", ...place, ...quote.flight }, step),
      );
      const hotel = await ctx.step("book hotel", (step) =>
        payments.book({ kind: "hotel", ...place, ...quote.hotel }, step),
      );
      return `Booked ${stay}: ${flight.id} and ${hotel.id}, ${formatMoney(quote.total)}.`;
    },
  });
}
