/**
 * The person and the browser of the authorization scenarios: goes where the client is sent, and comes back at once.
 *
 * Used by the client under test only. The official client does the flow; what is scripted is what a person and a browser do,
 * and what a program keeps between two requests.
 */
import type { Authorization } from "@reprise/client";
import { scenarioContext } from "./config.ts";

type Provider = Authorization["provider"];
type ClientInformation = Awaited<ReturnType<Provider["clientInformation"]>>;
type Tokens = Awaited<ReturnType<Provider["tokens"]>>;

const redirectUrl = "http://localhost:3000/callback";

/** The document that the scenarios know as this client's own metadata (the address is theirs; nobody fetches it). */
const metadataUrl = "https://conformance-test.local/client-metadata.json";

/** Keeps what the flow needs; visits the authorization server where a browser would open. */
class ScriptedPerson implements Provider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadataUrl = metadataUrl;
  readonly clientMetadata = {
    client_name: "reprise-conformance",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "native" as const,
  };
  #client: ClientInformation = registeredBefore();
  #tokens: Tokens;
  #verifier = "";
  #returned: URLSearchParams | undefined;

  clientInformation(): ClientInformation {
    return this.#client;
  }

  saveClientInformation(given: NonNullable<ClientInformation>): void {
    this.#client = given;
  }

  tokens(): Tokens {
    return this.#tokens;
  }

  saveTokens(given: NonNullable<Tokens>): void {
    this.#tokens = given;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const response = await fetch(url, { redirect: "manual" });
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${url.href} led nowhere: HTTP ${response.status}`);
    this.#returned = new URL(location, url).searchParams;
  }

  cameBack(): URLSearchParams {
    if (this.#returned === undefined) throw new Error("nobody was sent away");
    return this.#returned;
  }
}

/** Credentials that a scenario hands out before the flow. */
function registeredBefore(): ClientInformation {
  const { client_id, client_secret } = JSON.parse(scenarioContext ?? "{}") as {
    readonly client_id?: string;
    readonly client_secret?: string;
  };
  if (client_id === undefined) return undefined;
  return { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
}

/** The authorization of a scenario's client. */
export function scriptedAuthorization(): Authorization {
  const provider = new ScriptedPerson();
  return { provider, redirected: async () => provider.cameBack() };
}
