/**
 * Fetches a JSON document of an authorization server: the only requests that a front makes by itself.
 *
 * The address comes from the configuration or from a document of a configured issuer. Redirects are not followed: an
 * issuer's keys come from where it said, or not at all.
 */

/** What came back. `body` is undefined where it was no JSON. */
export interface JsonReply {
  readonly status: number;
  readonly body: unknown;
}

/** How documents are fetched. Must end by itself; rejects where there was no answer. */
export type FetchJson = (url: string) => Promise<JsonReply>;

/** How long an issuer may take to answer; a request with a token waits for it. */
const timeoutMs = 5_000;

/** Largest document that is read: key sets of large providers have some 20 KB. */
const maxBytes = 1024 * 1024;

/** Over HTTP, by the platform's own client. */
export const fetchJson: FetchJson = async (url) => {
  const response = await fetch(url, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await textOf(response, url);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, body };
};

async function textOf({ body }: Response, url: string): Promise<string> {
  if (body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop by a throw cancels the rest of the body.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`${url} is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
