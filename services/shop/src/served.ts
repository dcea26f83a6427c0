/**
 * The shop as a file to serve: `reprise front services/shop/src/served.ts`, and the same for workers.
 *
 * The outside world runs elsewhere; config.ts tells where. Every process that serves this file must see the same
 * scratch folder, because a step of `delete_folder` may run in any of them.
 */
import type { Server } from "reprise";
import { openServedShop } from "./servedShop.ts";

const shop: Server = await openServedShop();

export default shop;
