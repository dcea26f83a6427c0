/**
 * Abort controllers for signals that every running step of an attempt listens to.
 *
 * Node takes the eleventh listener of a signal for a leak and says so on stderr. The attempt's steps take theirs back when they
 * end, so as many as run at once is right.
 */
import { setMaxListeners } from "node:events";

/** A controller whose signal any number may listen to. */
export function controllerForMany(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
