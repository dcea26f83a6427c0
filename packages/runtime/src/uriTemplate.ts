/**
 * Matches URIs against RFC 6570 templates, by the MCP SDK's own implementation: the client that expands a template and the server that
 * takes it apart must agree.
 */
import { RepriseError } from "@reprise/errors";
import { UriTemplate as SdkTemplate } from "@reprise/protocol";

/** A compiled template. */
export class UriTemplate {
  readonly #template: SdkTemplate;

  /** @throws RepriseError DEFINITION_INVALID */
  constructor(text: string) {
    try {
      this.#template = new SdkTemplate(text);
    } catch (cause) {
      throw new RepriseError("DEFINITION_INVALID", `"${text}" is no URI template`, { cause });
    }
  }

  /** The variables of a URI that fits, percent-decoded; else undefined. */
  match(uri: string): Readonly<Record<string, string>> | undefined {
    const found = this.#template.match(uri);
    if (found === null) return undefined;
    const variables: [string, string][] = [];
    for (const [name, value] of Object.entries(found)) {
      const text = decode(Array.isArray(value) ? value.join(",") : value);
      if (text === undefined) return undefined;
      variables.push([name, text]);
    }
    return Object.fromEntries(variables);
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
