/**
 * What a state is bound to: four opaque strings, compared in constant time.
 *
 * The runtime makes the strings (design section 5: audience, method and target, principal, digest of the
 * parameters) and gives the same four for the same request. This file never learns what is in them.
 */
import { timingSafeEqual } from "node:crypto";

/**
 * The request that a state belongs to. Every member is a non-empty string, best a digest: in a signed token
 * the client can read it. A state opens only for the exact four strings it was sealed for.
 */
export interface StateBinding {
  /** Namespace and server name: a state of another deployment under the same key is refused. */
  readonly audience: string;
  /** Method and target name: a state of one tool is refused by another. */
  readonly operation: string;
  /** Who called: a state is refused for another person. */
  readonly principal: string;
  /** The request's parameters: a yes to one question can't be spent on other arguments. */
  readonly params: string;
}

// In this order differences are reported.
const bindingMembers = ["audience", "operation", "principal", "params"] as const;
/** Name of one member of a binding. */
export type BindingMember = (typeof bindingMembers)[number];

/** Throws a TypeError naming the member that is no string or empty: a forgotten member would bind to nothing. */
export function assertBinding(binding: StateBinding): void {
  for (const member of bindingMembers) {
    const value: unknown = binding[member];
    if (typeof value !== "string" || value === "") {
      throw new TypeError(`binding.${member} must be a non-empty string`);
    }
  }
}

/** The first member that differs, or undefined. All four are compared always, so time does not tell which. */
export function differingMember(
  sealed: StateBinding,
  presented: StateBinding,
): BindingMember | undefined {
  let differing: BindingMember | undefined;
  for (const member of bindingMembers) {
    const equal = isSameText(sealed[member], presented[member]);
    if (!equal && differing === undefined) differing = member;
  }
  return differing;
}

function isSameText(a: string, b: string): boolean {
  // UTF-16, because UTF-8 writes every lone surrogate as the same replacement character: two names, one text.
  const left = Buffer.from(a, "utf16le");
  const right = Buffer.from(b, "utf16le");
  // timingSafeEqual needs equal lengths. Lengths of digests are public.
  return left.length === right.length && timingSafeEqual(left, right);
}
