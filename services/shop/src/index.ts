/**
 * The shop as a package: for the tests and benches of this workspace. `main.ts` is the program.
 */
export { readConfig, readServedConfig, type ServedConfig, type ShopConfig } from "./config.ts";
export { createMail, type Delivery, type Mail, type MailAddress } from "./mail/client.ts";
export type { AcceptedMail } from "./mail/server.ts";
export { formatMoney, type Money } from "./money.ts";
export {
  OutsideFailed,
  type OutsideProcess,
  startOutsideProcess,
} from "./outsideProcess.ts";
export {
  type OutsideAddress,
  type OutsideOptions,
  type OutsideWorld,
  startOutsideWorld,
} from "./outsideWorld.ts";
export { openShopPage, type PageOptions, type PageShop, type ShopPage } from "./page/shopPage.ts";
export { createPayments, type PaymentCall, type Payments } from "./payments/client.ts";
export type { Fault } from "./payments/faults.ts";
export type {
  Booking,
  BookingRequest,
  Cancellation,
  Charge,
  Invoice,
  InvoiceRequest,
  Order,
  OrderItem,
  Payment,
  Quote,
  Recorded,
  Refund,
  RefundRequest,
  Trip,
} from "./payments/model.ts";
export { type FoundFolder, Scratch, seedScratch } from "./scratch.ts";
export { openServedShop } from "./servedShop.ts";
export { createShop, type ShopServices } from "./server.ts";
export { bookTrip } from "./tools/bookTrip.ts";
export { type PayInvoiceOptions, payInvoice } from "./tools/payInvoice.ts";
export { refundOrder } from "./tools/refundOrder.ts";
export { sendInvoice } from "./tools/sendInvoice.ts";
