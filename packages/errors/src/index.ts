export type { ErrorCode, ErrorSpec } from "./codes.ts";
export { errorCodes, errorSpecs } from "./codes.ts";
export type { RepriseErrorOptions } from "./error.ts";
export { isRepriseError, RepriseError } from "./error.ts";
