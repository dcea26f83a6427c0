/**
 * Which requests are let in by Host, Origin and Accept, before their bodies are read.
 *
 * Called by the plugin for every request but the health probes. Pure decisions over strings; each kind of header
 * takes few values in a server's life, so verdicts are remembered, up to a bound that a flood of made-up values
 * can't exceed.
 */

/** Remembers up to 256 verdicts; beyond that, values are judged each time. */
function remembered(judge: (value: string) => boolean): (value: string) => boolean {
  const verdicts = new Map<string, boolean>();
  return (value) => {
    const known = verdicts.get(value);
    if (known !== undefined) return known;
    const verdict = judge(value);
    if (verdicts.size < 256) verdicts.set(value, verdict);
    return verdict;
  };
}

const hostHeader = /^(\[[0-9a-f:.]+\]|[^:/@?#\s[\]]+)(?::\d{1,5})?$/;

/** Whether a Host header names this server: a loopback name, or one of `allowed`. */
export function hostRule(allowed: readonly string[]): (host: string) => boolean {
  const entries = new Set(allowed);
  return remembered((host) => {
    const value = host.toLowerCase();
    const name = hostHeader.exec(value)?.[1];
    return name !== undefined && (isLoopbackName(name) || entries.has(name) || entries.has(value));
  });
}

/** Whether pages of an origin may call: a loopback origin, or one of `allowed`. */
export function originRule(allowed: readonly string[]): (origin: string) => boolean {
  const entries = new Set(allowed);
  return remembered((origin) => {
    const value = origin.toLowerCase();
    if (entries.has(value)) return true;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    // Only what is an origin and nothing more: no path, no userinfo in front of a loopback name.
    return (
      url !== undefined &&
      (url.protocol === "http:" || url.protocol === "https:") &&
      url.origin === value &&
      isLoopbackName(url.hostname)
    );
  });
}

/** Whether an Accept header allows both forms of a response: one JSON object, or an event stream. */
export const acceptsBoth: (accept: string) => boolean = remembered((accept) => {
  const ranges = accept.toLowerCase().split(",").map(mediaRange);
  return admitsType(ranges, "application", "json") && admitsType(ranges, "text", "event-stream");
});

/** Whether an Accept header allows an event stream. */
export const acceptsEvents: (accept: string) => boolean = remembered((accept) =>
  admitsType(accept.toLowerCase().split(",").map(mediaRange), "text", "event-stream"),
);

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function mediaRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim());
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  return { type, quality: q === undefined ? 1 : Number(q.slice(2)) };
}

/** The most specific range decides (RFC 9110, 12.5.1). */
function admitsType(ranges: readonly MediaRange[], type: string, subtype: string): boolean {
  for (const candidate of [`${type}/${subtype}`, `${type}/*`, "*/*"]) {
    const range = ranges.find((each) => each.type === candidate);
    if (range !== undefined) return range.quality > 0;
  }
  return false;
}

/** Whether a host name, as in a URL or a listen address, never leaves this machine. */
export function isLoopbackName(name: string): boolean {
  return (
    name === "localhost" || name === "[::1]" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name)
  );
}
