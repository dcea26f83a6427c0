/**
 * `npm start`: the shop from source, in a fresh clone too. Arguments go on to the shop.
 */
import { runInForeground } from "./foreground.mjs";
import { setUp } from "./setUp.mjs";

setUp();
runInForeground("services/shop/src/main.ts");
