/**
 * Which schemas could keep a validator busy for minutes over a short input, judged once when a schema is compiled.
 *
 * `compileSchema` asks; inputs that are long enough to hurt are then validated under a deadline (`deadline.ts`). A schema is its
 * author's and is served as it is: what it may cost is told at start, and no caller can make a process hang with it.
 *
 * Judged are patterns, `uniqueItems` (each item is compared with each other), and references that multiply: through a cycle
 * with alternatives, or by naming one definition again and again.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "@reprise/journal";
import { patternDegree } from "./patternCost.ts";

/** What a schema may cost. */
export interface SchemaCost {
  /** Inputs whose longest text and list are no longer than this are quick. Infinity: all are. */
  readonly quickUpTo: number;
  /** Words for the author: what is slow. Undefined where nothing is. */
  readonly reason: string | undefined;
}

/** Steps that a validator takes in a few dozen milliseconds. */
const stepBudget = 10_000_000;

/** Evaluations of subschemas for one value. No schema that people write comes near. */
const maxEvaluations = 20_000;

/** Shorter texts are quick even for patterns that can read them in exponentially many ways. */
const quickForAnyPattern = 8;

/** Judges a schema. @param flagsLost whether its patterns may have lost their flags on the way into JSON Schema */
export function schemaCost(schema: JsonObject, flagsLost: boolean): SchemaCost {
  let worst: SchemaCost = { quickUpTo: Number.POSITIVE_INFINITY, reason: undefined };
  for (const finding of findingsOf(schema, "#", flagsLost)) {
    if (finding.quickUpTo < worst.quickUpTo) worst = finding;
  }
  const reason = referenceTrouble(schema);
  return reason === undefined ? worst : { quickUpTo: 0, reason };
}

/** Of what takes a power of the input's length. What is slow for very long inputs only is no reason to change a schema. */
function costOfDegree(degree: number): SchemaCost {
  const quickUpTo = degree <= 1 ? Number.POSITIVE_INFINITY : Math.floor(stepBudget ** (1 / degree));
  return { quickUpTo, reason: undefined };
}

/** Members whose values are no schemas: what stands there is data. */
const dataMembers = new Set(["const", "default", "enum", "examples"]);

function* findingsOf(value: JsonValue, at: string, flagsLost: boolean): Generator<SchemaCost> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield* findingsOf(item, `${at}/${index}`, flagsLost);
    return;
  }
  if (!isJsonObject(value)) return;
  const { pattern, patternProperties, uniqueItems } = value;
  const patterns = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  if (typeof pattern === "string") patterns.push(pattern);
  for (const one of patterns) {
    const degree = patternDegree(one, flagsLost);
    if (degree < Number.POSITIVE_INFINITY) yield costOfDegree(degree);
    else {
      yield {
        quickUpTo: quickForAnyPattern,
        reason: `the pattern ${JSON.stringify(one)} at ${at} may read one text in very many ways`,
      };
    }
  }
  if (uniqueItems === true) yield costOfDegree(2);
  for (const [name, member] of Object.entries(value)) {
    if (!dataMembers.has(name)) yield* findingsOf(member, `${at}/${name}`, flagsLost);
  }
}

/** Members under which one value is judged by several subschemas, or again. */
const multiplying =
  /^(anyOf|oneOf|allOf|not|if|then|else|dependentSchemas|contains|unevaluated\w+)$/;

function referenceTrouble(schema: JsonObject): string | undefined {
  const weights = new Map<JsonValue, number>();
  let hasCycle = false;
  let multiplies = false;
  const weigh = (value: JsonValue): number => {
    if (typeof value !== "object" || value === null) return 0;
    const known = weights.get(value);
    if (known !== undefined) {
      if (known < 0) hasCycle = true;
      return Math.max(known, 0);
    }
    weights.set(value, -1);
    let weight = 1;
    for (const [name, member] of Object.entries(value)) {
      if (multiplying.test(name)) multiplies = true;
      if (name === "$dynamicRef") hasCycle = true;
      // A definition costs where it is referred to.
      if (name === "$defs" || name === "definitions" || dataMembers.has(name)) continue;
      const target = name === "$ref" ? targetOf(schema, member) : member;
      weight = Math.min(weight + weigh(target), Number.MAX_SAFE_INTEGER);
    }
    weights.set(value, weight);
    return weight;
  };
  const total = weigh(schema);
  if (hasCycle && multiplies) {
    return "it refers to itself through alternatives, which can multiply with depth";
  }
  return total > maxEvaluations
    ? `its references make ${total} subschemas of one value`
    : undefined;
}

/** What a local reference points to; anything else is judged where it is defined. */
function targetOf(root: JsonObject, reference: JsonValue): JsonValue {
  if (typeof reference !== "string" || !reference.startsWith("#")) return null;
  let node: JsonValue = root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    const next: JsonValue | undefined =
      typeof node === "object" && node !== null && Object.hasOwn(node, name)
        ? (node as JsonObject)[name]
        : undefined;
    if (next === undefined) return null;
    node = next;
  }
  return node;
}

/** Values that any validator is through with in a few milliseconds. */
const quickCount = 20_000;

/**
 * Whether no text, list or object in a value is longer than `quickUpTo`, and there are not so many values that a library which
 * tells of each one's trouble would take seconds.
 */
export function isQuick(value: unknown, quickUpTo: number): boolean {
  const open: unknown[] = [value];
  for (let count = 0; open.length > 0; count++) {
    if (count > quickCount) return false;
    const next = open.pop();
    if (typeof next === "string" && next.length > quickUpTo) return false;
    if (typeof next !== "object" || next === null) continue;
    const members: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (members.length > Math.min(quickUpTo, quickCount)) return false;
    open.push(...members);
    if (!Array.isArray(next) && Object.keys(next).some((name) => name.length > quickUpTo))
      return false;
  }
  return true;
}
