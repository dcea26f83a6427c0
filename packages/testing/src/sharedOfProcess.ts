/**
 * Shared records as one process of a memory store has them: the data of all, until the process closes or dies.
 *
 * Called by the memory store. It adds nothing to the records but their end.
 *
 * P1 After the end every call fails with STORE_UNAVAILABLE, and no listener of this process hears anything.
 */
import { RepriseError } from "@reprise/errors";
import type { SharedRecords } from "@reprise/runtime";

/** The records of a process, and how they end. */
export interface SharedOfProcess {
  readonly shared: SharedRecords;
  /** Idempotent. */
  readonly end: () => void;
}

/** @param records what all processes on the data share */
export function sharedOfProcess(records: SharedRecords): SharedOfProcess {
  let open = true;
  const listening = new Set<() => void>();
  const whileOpen =
    <Args extends readonly unknown[], Value>(call: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      if (!open) throw new RepriseError("STORE_UNAVAILABLE", "the store is closed");
      return await call(...args);
    };
  const listen: SharedRecords["listen"] = async (channel, listener) => {
    const heard = (notice: string): void => {
      if (open) listener(notice);
    };
    const endListening = await records.listen(channel, heard);
    const end = (): void => {
      listening.delete(end);
      endListening();
    };
    listening.add(end);
    return end;
  };
  return {
    shared: {
      get: whileOpen(records.get),
      put: whileOpen(records.put),
      remove: whileOpen(records.remove),
      append: whileOpen(records.append),
      read: whileOpen(records.read),
      publish: whileOpen(records.publish),
      listen: whileOpen(listen),
    },
    end: () => {
      open = false;
      for (const end of [...listening]) end();
    },
  };
}
