/**
 * Lets the parent move this process's wall clock: a message `{shiftClockMs}` moves `Date` by that much against the machine's
 * clock, at once, forth or back, as a mistaken administrator or a bad time server does. Monotonic clocks go on as they were.
 *
 * Imported before anything else, because modules may keep `Date.now` when they are loaded.
 */
import process from "node:process";

const { now: systemNow } = Date;
let shiftMs = 0;

const ShiftedDate = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget) as Date,
  apply: () => new Date().toString(),
});
Date.now = () => systemNow() + shiftMs;
globalThis.Date = ShiftedDate;

if (process.send !== undefined) {
  process.on("message", (message: unknown) => {
    if (typeof message !== "object" || message === null) return;
    const shift: unknown = Reflect.get(message, "shiftClockMs");
    if (typeof shift === "number") shiftMs = shift;
  });
  // A process that has drained must end, whether its parent still listens or not.
  process.channel?.unref();
}
