/**
 * The URL gate at a terminal.
 *
 * Called by the terminal host. The address is printed in full with its host set apart, and once more on a line of its own for
 * terminals without colours; the browser is started after "open" only, and the answer goes after "done", so that the server
 * is not called back before there is something to find. A refused address can only be declined, cancelled or left.
 */
import { type Asked, choose } from "./choose.ts";
import type { Console } from "./console.ts";
import type { UrlAsk, UrlReply } from "./host.ts";
import { printableLine, quoted } from "./printable.ts";
import type { UrlReview } from "./reviewUrl.ts";

/** Starts the system browser. Rejects when there is none; the person then gets the address to open by hand. */
export type OpenUrl = (href: string) => Promise<void>;

/** Has the ask answered. The heading has been printed. */
export async function visitPage(
  console: Console,
  ask: UrlAsk,
  openUrl: OpenUrl,
  asked: Asked,
): Promise<UrlReply> {
  console.say(quoted(ask.message));
  console.say("  It wants you to visit this page in your browser:");
  console.say(`    ${highlighted(ask.url, console.color)}`);
  if (ask.url.parts.host !== "") console.say(`  Host: ${printableLine(ask.url.parts.host)}`);
  for (const warning of ask.url.warnings) console.say(`  WARNING: ${printableLine(warning)}`);
  if (ask.url.refusal !== undefined) {
    console.say(`  This address will not be opened. ${printableLine(ask.url.refusal)}`);
    return await leave(console, asked);
  }
  return await openOrLeave(console, ask.url, openUrl, asked);
}

async function leave(console: Console, asked: Asked): Promise<UrlReply> {
  const chosen = await choose(
    console,
    { decline: ["decline", "no", "n"], cancel: ["cancel"], later: ["later"] },
    asked,
  );
  return { action: chosen?.choice ?? "later" };
}

async function openOrLeave(
  console: Console,
  url: UrlReview,
  openUrl: OpenUrl,
  asked: Asked,
): Promise<UrlReply> {
  console.say('  "open" starts your browser; "done" tells the server that you have been there.');
  for (;;) {
    const chosen = await choose(
      console,
      {
        open: ["open", "yes", "y"],
        done: ["done"],
        decline: ["decline", "no", "n"],
        cancel: ["cancel"],
        later: ["later"],
      },
      asked,
    );
    switch (chosen?.choice) {
      case "open":
        await openUrl(url.href).then(
          () => console.say('  Opened. Type "done" when you have finished there.'),
          () => console.say(`  No browser could be started. Open it yourself: ${url.href}`),
        );
        break;
      case "done":
        return { action: "accept" };
      case "decline":
      case "cancel":
        return { action: chosen.choice };
      default:
        return { action: "later" };
    }
  }
}

/** The whole address, its host in reverse video where there are colours. Elsewhere the line below it names the host. */
function highlighted({ parts }: UrlReview, color: boolean): string {
  const { before, host, after } = {
    before: printableLine(parts.before),
    host: printableLine(parts.host),
    after: printableLine(parts.after),
  };
  if (host === "") return before;
  return color ? `${before}\u001b[1;7m${host}\u001b[0m${after}` : `${before}${host}${after}`;
}
