/**
 * What a trip costs: a price list and a sum, so that the same trip always has the same price.
 */
import type { Quote, Trip } from "./model.ts";

const currency = "EUR";
const faresByCity: Readonly<Record<string, number>> = {
  Kyoto: 61000,
  Lisbon: 14900,
  Oslo: 11900,
  Rome: 12900,
};
const fareElsewhere = 19900;
const nightByStars = { "3": 7900, "4": 12900, "5": 24900 } as const;

/** Where flights go and no hotel has a room: the second part of such a trip can't be booked. */
export const fullCities: readonly string[] = ["Atlantis"];

/** The price of a trip, in euros. */
export function quoteTrip({ city, nights, travelClass, hotelStars }: Trip): Quote {
  const fare = faresByCity[city] ?? fareElsewhere;
  const flight = travelClass === "business" ? fare * 3 : fare;
  const hotel = nightByStars[hotelStars] * nights;
  return {
    flight: { amount: flight, currency },
    hotel: { amount: hotel, currency },
    total: { amount: flight + hotel, currency },
  };
}
