/**
 * `npm run simulate -- --seeds N [--seed S]`: random handlers on the shipped runtime, with a seed for every order and every fault.
 */
import { runInForeground } from "./foreground.mjs";
import { setUp } from "./setUp.mjs";

setUp({ tools: [] });
runInForeground("test/simulation/run.ts");
