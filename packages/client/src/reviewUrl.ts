/**
 * What a person must see and know of a URL before it may be opened (MCP 2026-07-28, elicitation, "Safe URL Handling").
 *
 * Pure: nothing is fetched, resolved or opened here or anywhere before a yes. The address shown is the one that a browser
 * would go to (`URL` normal form, all ASCII), never the server's spelling of it: spelling is where the tricks are.
 */
import { hostToUnicode } from "./punycode.ts";

/** A URL as a host shows it. */
export interface UrlReview {
  /** The full address in normal form: exactly what is opened. The server's own spelling when it is refused as no URL. */
  readonly href: string;
  /** The address in three pieces, `host` being the one to highlight: the part that decides where the person ends up. */
  readonly parts: { readonly before: string; readonly host: string; readonly after: string };
  /** Sentences that a host must show beside the address; empty for an ordinary one. */
  readonly warnings: readonly string[];
  /** Why it must not be opened at all; absent when it may be after a yes. */
  readonly refusal?: string;
}

/** Looks at the URL of an ask. Never throws: what is no URL is refused in the review. */
export function reviewUrl(sent: string): UrlReview {
  if (!URL.canParse(sent)) {
    return refused(sent, "It is not a complete URL.");
  }
  const url = new URL(sent);
  const parts = splitAtHost(url);
  const review = { href: url.href, parts, warnings: warningsFor(url, sent) };
  if (url.username !== "" || url.password !== "") {
    return {
      ...review,
      refusal: "It carries a user name or password, which is how a false host is hidden.",
    };
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) {
    return review;
  }
  return { ...review, refusal: "It is not https, and its host is not this machine." };
}

/** Whether a host name stands for this machine, where http cannot be overheard. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

function refused(href: string, refusal: string): UrlReview {
  return { href, parts: { before: href, host: "", after: "" }, warnings: [], refusal };
}

function splitAtHost(url: URL): UrlReview["parts"] {
  const start = url.host === "" ? 0 : url.href.indexOf(url.host, authorityStart(url));
  return {
    before: url.href.slice(0, start),
    host: url.host,
    after: url.href.slice(start + url.host.length),
  };
}

// Behind scheme and userinfo: a host name that occurs in the user name must not be the one that is highlighted.
function authorityStart(url: URL): number {
  const start = url.protocol.length + 2;
  if (url.username === "" && url.password === "") return start;
  return url.href.indexOf("@", start) + 1;
}

function warningsFor(url: URL, sent: string): string[] {
  const warnings: string[] = [];
  const labels = url.hostname.split(".");
  if (labels.some((label) => label.startsWith("xn--"))) {
    const shown = hostToUnicode(url.hostname);
    warnings.push(
      `The host is written in punycode. It displays as "${shown}" and may imitate another name.`,
    );
    if (shown.split(".").some(mixesScripts)) {
      warnings.push("The host mixes letters of several alphabets in one name.");
    }
  }
  if (/^\d+\.\d+\.\d+\.\d+$|^\[/.test(url.hostname) && !isLoopback(url.hostname)) {
    warnings.push("The host is a number, not a name.");
  }
  if (url.port !== "" && !isLoopback(url.hostname)) {
    warnings.push(`The address uses the unusual port ${url.port}.`);
  }
  if (url.hostname.endsWith(".")) {
    warnings.push("The host ends in a dot.");
  }
  if (!sameSpelling(url, sent)) {
    warnings.push("The server wrote the address in another way; this is what it means.");
  }
  return warnings;
}

// Upper-case hosts, a missing slash and a Unicode host are ordinary (the last has its own warning); a backslash, a tab or an
// encoded host is not.
function sameSpelling(url: URL, sent: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/\/$/, "");
  return plain(url.href) === plain(sent) || /[^\p{ASCII}]/u.test(sent);
}

const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Cherokee}/u,
];

function mixesScripts(label: string): boolean {
  return SCRIPTS.filter((script) => script.test(label)).length > 1;
}
