/**
 * Matches URIs against RFC 6570 templates, by the MCP SDK's own implementation: the client that expands a template and the server that
 * takes it apart must agree.
 */
import { RepriseError } from "@reprise/errors";
import { UriTemplate as SdkTemplate } from "@reprise/protocol";
import { tooSlow, withinDeadline } from "./deadline.ts";

/** Longest URI that is looked at. Browsers, proxies and servers agree on about as much. */
const maxUriLength = 8192;

/** Steps of the matching regular expression that take no time worth speaking of. */
const stepBudget = 1_000_000;

/** A query at the end, such as `{?from,to}`. */
const trailingQuery = /\{\?([\w.]+(?:,[\w.]+)*)\}$/;

/** A compiled template. */
export class UriTemplate {
  readonly #template: SdkTemplate;
  /** Names of the trailing query; undefined without one. */
  readonly #query: ReadonlySet<string> | undefined;
  /** Longer URIs are matched under a deadline: neighbouring variables can share a text in very many ways. */
  readonly #quickUpTo: number;

  /** @throws RepriseError DEFINITION_INVALID */
  constructor(text: string) {
    const query = trailingQuery.exec(text);
    this.#query = query?.[1] === undefined ? undefined : new Set(query[1].split(","));
    const expressions = text.split("{").length - 1;
    this.#quickUpTo = expressions <= 1 ? maxUriLength : stepBudget ** (1 / expressions);
    try {
      this.#template = new SdkTemplate(query === null ? text : text.slice(0, query.index));
    } catch (cause) {
      throw new RepriseError("DEFINITION_INVALID", `"${text}" is no URI template`, { cause });
    }
  }

  /** The variables of a URI that fits, percent-decoded; else undefined, also where finding out would take too long. */
  match(uri: string): Readonly<Record<string, string>> | undefined {
    if (uri.length > maxUriLength) return undefined;
    const mark = this.#query === undefined ? -1 : uri.indexOf("?");
    const path = mark < 0 ? uri : uri.slice(0, mark);
    const match = () => this.#template.match(path);
    const found = path.length > this.#quickUpTo ? withinDeadline(match) : match();
    const pairs = mark < 0 ? [] : this.#queryOf(uri.slice(mark + 1));
    if (found === null || found === tooSlow || pairs === undefined) return undefined;
    const variables: [string, string][] = [];
    for (const [name, value] of [...Object.entries(found), ...pairs]) {
      const text = decode(Array.isArray(value) ? value.join(",") : value);
      if (text === undefined) return undefined;
      variables.push([name, text]);
    }
    return Object.fromEntries(variables);
  }

  /**
   * The pairs of a query, still encoded; undefined for one that the template can't give. Any of its names may be absent and the order
   * is free, as an expansion leaves undefined variables out (RFC 6570, 3.2.8); the SDK wants all of them in the template's order.
   */
  #queryOf(query: string): readonly (readonly [string, string])[] | undefined {
    const pairs = new Map<string, string>();
    for (const part of query === "" ? [] : query.split("&")) {
      const [name = "", ...value] = part.split("=");
      if (this.#query?.has(name) !== true || pairs.has(name)) return undefined;
      pairs.set(name, value.join("="));
    }
    return [...pairs];
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
