/**
 * What a browser carries from the start of a sign-in to its end, encrypted under the roster's key: JWE `dir`+A256GCM, by
 * request-state, which wraps everything that others keep for us.
 *
 * Every dashboard of the deployment has the key, and a key that came with another roster opens nothing: the sign-in is begun anew.
 */
import { createSignInWrapping, type TextWrapping } from "@reprise/request-state";
import type { Roster } from "./roster.ts";
import type { CarriedText } from "./signIn.ts";

/** Over the roster, which is read each time. */
export function createCarriedText(roster: Roster): CarriedText {
  let held: { readonly key: string; readonly wrapping: TextWrapping } | undefined;
  const wrappingOf = (key: string): TextWrapping => {
    if (held?.key !== key) held = { key, wrapping: createSignInWrapping(key) };
    return held.wrapping;
  };
  return {
    async wrap(text) {
      const { key } = (await roster.read()) ?? (await roster.change(() => undefined));
      return wrappingOf(key).wrap(text);
    },
    async unwrap(wrapped) {
      const contents = await roster.read();
      if (contents === undefined) return undefined;
      const opened = wrappingOf(contents.key).unwrap(wrapped);
      return typeof opened === "object" ? opened.text : undefined;
    },
  };
}
