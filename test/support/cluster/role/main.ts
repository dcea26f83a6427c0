/** A front or a worker with the shop, as one program that can be bundled: `main.ts front`. */
import { openServedShop } from "@reprise/shop";
import { serveRole } from "./serveRole.ts";

await serveRole(await openServedShop());
