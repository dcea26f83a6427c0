/**
 * The system's browser.
 *
 * Called by the URL gate after a yes, with an address that the review let through. No shell sees the address (an `&` or `$()` in it
 * stays a character), and none of its content comes back here: the page is between the person and its owner.
 */
import { spawn } from "node:child_process";
import { platform } from "node:os";

/** Starts the browser on `href`. Rejects when the system has no opener or it fails at once. */
export function openInBrowser(href: string): Promise<void> {
  const [command, ...args] = opener(href);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "ignore", detached: true });
    child.once("error", reject);
    // xdg-open ends once the browser has taken over; a browser that stays in the foreground has started as well.
    child.once("exit", (status) => {
      if (status === 0) resolve();
      else reject(new Error(`${command} ended with status ${String(status)}`));
    });
    child.once("spawn", () => {
      child.unref();
      setTimeout(resolve, 2_000).unref();
    });
  });
}

function opener(href: string): readonly [string, ...string[]] {
  switch (platform()) {
    case "darwin":
      return ["open", href];
    case "win32":
      return ["rundll32", "url.dll,FileProtocolHandler", href];
    default:
      return ["xdg-open", href];
  }
}
