/**
 * From what a request says to what is meant: filters, ids, bodies. Whatever does not fit is a coded refusal that names it.
 */
import { RepriseError } from "@reprise/errors";
import { type HistoryQuery, MAX_HISTORY_PAGE, type RunStatus } from "@reprise/runtime";

type Fields = Readonly<Record<string, unknown>>;

/** The lists that may be asked for. */
const lists: Readonly<Record<RunStatus | "attention", true>> = {
  running: true,
  waiting: true,
  completed: true,
  failed: true,
  interrupted: true,
  mismatched: true,
  parked: true,
  cancelled: true,
  undone: true,
  attention: true,
};

const filterNames = new Set([
  ...["status", "handler", "principal", "from", "to", "limit", "cursor", "order"],
]);
const MOST_TEXT = 1000;

/** @throws RepriseError OPS_REQUEST_INVALID */
export function refuse(message: string): never {
  throw new RepriseError("OPS_REQUEST_INVALID", message);
}

/** The members of a body or query. */
export function fieldsOf(value: unknown): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Fields;
  return refuse("The body must be a JSON object.");
}

/** A text of 1 to `most` characters; undefined when it is absent or empty. */
export function textIn(fields: Fields, name: string, most: number = MOST_TEXT): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && value.length <= most) return value;
  return refuse(`${name} must be a text of at most ${most} characters.`);
}

/** The same, and it must be there. */
export function neededText(fields: Fields, name: string, most?: number): string {
  return textIn(fields, name, most) ?? refuse(`${name} is missing.`);
}

/** A whole number from `least` to `most`; from a query it is a text of digits. */
export function numberIn(
  fields: Fields,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === "") return undefined;
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  const isFit =
    typeof number === "number" && Number.isInteger(number) && number >= least && number <= most;
  return isFit ? number : refuse(`${name} must be a whole number from ${least} to ${most}.`);
}

/** Which runs. A name that is no filter is refused: a misspelt one would show, or cancel, more than was meant. */
export function filterIn(fields: Fields): HistoryQuery {
  const strange = Object.keys(fields).find((name) => !filterNames.has(name));
  if (strange !== undefined) refuse(`${JSON.stringify(strange.slice(0, 50))} is no filter.`);
  const status = textIn(fields, "status", 20);
  if (status !== undefined && !Object.hasOwn(lists, status)) {
    refuse(`status must be one of ${Object.keys(lists).join(", ")}.`);
  }
  const from = numberIn(fields, "from", 0, Number.MAX_SAFE_INTEGER);
  const to = numberIn(fields, "to", 0, Number.MAX_SAFE_INTEGER);
  if (from !== undefined && to !== undefined && from >= to) refuse("from must be before to.");
  const order = textIn(fields, "order", 20);
  if (order !== undefined && order !== "longest_open") refuse("order must be longest_open.");
  if (order !== undefined && (status !== "waiting" || from !== undefined || to !== undefined))
    refuse("order is of status waiting alone, without from and to.");
  return {
    status: status as HistoryQuery["status"],
    handler: textIn(fields, "handler"),
    principal: textIn(fields, "principal"),
    from,
    to,
    limit: numberIn(fields, "limit", 1, MAX_HISTORY_PAGE) ?? 50,
    cursor: textIn(fields, "cursor"),
    order,
  };
}

/** A run id as it stands in an address. */
export function runIdIn(params: unknown): string {
  const id = fieldsOf(params)["id"];
  if (typeof id === "string" && /^[\w-]{1,400}$/.test(id)) return id;
  return refuse("This can't be a run id.");
}
