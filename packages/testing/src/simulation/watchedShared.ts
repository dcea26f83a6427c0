/**
 * The records that instances share, through an instance's hand: what belongs to URL asks is a call like any of the store's.
 *
 * Everything else (the flags of switched tools, which every instance looks at each second) is none of a case's trouble.
 */
import type { SharedRecords } from "@reprise/runtime";
import type { Instance } from "./instance.ts";

const PAGES = "elicitation";

/** The records as an instance sees them. @param hears whether notices arrive; each is lost otherwise */
export function watchedShared(
  shared: SharedRecords,
  instance: Pick<Instance, "port" | "isUp">,
  hears: boolean,
): SharedRecords {
  const through = <T>(kind: string, what: string, call: () => Promise<T>): Promise<T> =>
    kind === PAGES ? instance.port(`page ${what}`, true, call) : call();
  return {
    get: (key) => through(key.kind, "get", () => shared.get(key)),
    put: (key, value, expected, expiresAt) =>
      through(key.kind, "put", () => shared.put(key, value, expected, expiresAt)),
    remove: (key, expected) => through(key.kind, "remove", () => shared.remove(key, expected)),
    append: (key, items, limits) => shared.append(key, items, limits),
    read: (key, after, limit) => shared.read(key, after, limit),
    publish: (channel, notice) => shared.publish(channel, notice),
    listen: (channel, listener) =>
      shared.listen(channel, (notice) => {
        if (hears && instance.isUp) listener(notice);
      }),
  };
}
