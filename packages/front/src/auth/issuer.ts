/**
 * One authorization server: from its issuer identifier to its keys.
 *
 * `createBearerAuth` gives `loadKeys` to the key set that it holds. Nothing is cached here but which of the well-known
 * addresses answered last: metadata and keys are always loaded together, so that a key set that moved is found again.
 */
import type { FetchJson, JsonReply } from "./fetchJson.ts";
import { publicUrl } from "./protectedResource.ts";

/**
 * Where an issuer's metadata may be, in the order that MCP prescribes ("Authorization Server Metadata Discovery"):
 * RFC 8414, OpenID Connect with the path inserted, OpenID Connect with the path in front.
 */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const inserted = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === ""
    ? inserted
    : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** Checks an issuer identifier (RFC 8414 section 2). @throws TypeError naming the option */
export function checkIssuer(option: string, issuer: string): void {
  if (publicUrl(option, issuer).search !== "") throw new TypeError(`${option} must have no query`);
}

/** An authorization server whose keys can be loaded. */
export class Issuer {
  readonly identifier: string;
  readonly #fetchJson: FetchJson;
  #urls: readonly string[];

  /** `identifier` was checked. */
  constructor(identifier: string, fetchJson: FetchJson) {
    this.identifier = identifier;
    this.#fetchJson = fetchJson;
    this.#urls = metadataUrls(identifier);
  }

  /** Its key set as JSON. @throws Error that says what was tried */
  async loadKeys(): Promise<unknown> {
    const url = await this.#findKeySet();
    const { status, body } = await this.#fetchJson(url);
    if (status !== 200 || body === undefined) {
      throw new Error(`the key set at ${url} was answered with ${told(status, body)}`);
    }
    return body;
  }

  async #findKeySet(): Promise<string> {
    const failures: string[] = [];
    for (const url of this.#urls) {
      const reply = await this.#fetchJson(url);
      const found = this.#keySetOf(reply);
      if (typeof found !== "string") {
        failures.push(`${url}: ${found.wrong}`);
        continue;
      }
      this.#urls = [url, ...this.#urls.filter((other) => other !== url)];
      return found;
    }
    throw new Error(`no metadata of the issuer: ${failures.join("; ")}`);
  }

  #keySetOf({ status, body }: JsonReply): string | { readonly wrong: string } {
    if (status !== 200 || typeof body !== "object" || body === null) {
      return { wrong: `answered with ${told(status, body)}` };
    }
    const { issuer, jwks_uri: keySet } = body as { issuer?: unknown; jwks_uri?: unknown };
    // As it is written, down to the last slash (RFC 8414, 3.3): else one issuer could speak for another.
    if (issuer !== this.identifier) return { wrong: "is the metadata of another issuer" };
    if (typeof keySet !== "string") return { wrong: "names no jwks_uri" };
    try {
      publicUrl("jwks_uri", keySet);
    } catch (error) {
      return { wrong: (error as TypeError).message };
    }
    return keySet;
  }
}

function told(status: number, body: unknown): string {
  return body === undefined ? `${status} and no JSON` : String(status);
}
