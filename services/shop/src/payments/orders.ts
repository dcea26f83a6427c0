/**
 * The shop's orders. Nobody in here exists; the addresses are those that RFC 2606 keeps free for examples.
 */
import type { Money } from "../money.ts";
import type { Order, OrderItem } from "./model.ts";

type PaidOrder = Omit<Order, "status">;

function order(
  id: string,
  customer: string,
  email: string,
  placedOn: string,
  currency: string,
  ...lines: readonly [name: string, quantity: number, price: number][]
): PaidOrder {
  const items: OrderItem[] = lines.map(([name, quantity, amount]) => ({
    name,
    quantity,
    price: { amount, currency },
  }));
  const amount = items.reduce((sum, item) => sum + item.quantity * item.price.amount, 0);
  return { id, customer, email, placedOn, items, total: { amount, currency } };
}

/** Every order, oldest first, each charged on the day it was placed. */
export const paidOrders: readonly PaidOrder[] = [
  order(
    "1001",
    "Ada Example",
    "ada@example.com",
    "2026-05-04",
    "EUR",
    ["Teapot", 1, 3495],
    ["Darjeeling, 250 g", 1, 1495],
  ),
  order("1002", "Ben Sample", "ben@example.org", "2026-05-19", "EUR", ["Reading lamp", 1, 8900]),
  order(
    "1003",
    "Chika Muster",
    "chika@example.com",
    "2026-06-02",
    "JPY",
    ["Chef's knife", 1, 12800],
    ["Whetstone", 2, 3400],
  ),
  order(
    "1004",
    "Dana Specimen",
    "dana@example.org",
    "2026-06-11",
    "USD",
    ["Hiking boots", 1, 15995],
    ["Wool socks", 3, 1299],
  ),
  order("1005", "Eli Placeholder", "eli@example.com", "2026-07-01", "GBP", ["Globe", 1, 4250]),
];

/** What the delivery of each order cost, billed afterwards. */
export const deliveries: readonly ({ readonly orderId: string } & Money)[] = [
  { orderId: "1001", amount: 490, currency: "EUR" },
  { orderId: "1002", amount: 790, currency: "EUR" },
  { orderId: "1003", amount: 1200, currency: "JPY" },
  { orderId: "1004", amount: 1450, currency: "USD" },
  { orderId: "1005", amount: 625, currency: "GBP" },
];
