/** What calls reject with. */
import { isRepriseError } from "@reprise/errors";

/** The error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** Its code, or the error itself where it has none. */
export async function codeOf(call: Promise<unknown>): Promise<unknown> {
  const error = await failure(call);
  return isRepriseError(error) ? error.code : error;
}
