/**
 * What the chaos shop's processes are told besides the settings of fronts and workers: the only file of it that reads the
 * environment.
 */
import process from "node:process";

/** A file whose text is the revision of the handlers that a starting process serves; absent, they are those of `main`. */
export const revisionFile: string | undefined = process.env["CHAOS_REVISION_FILE"];

/** Where this process writes down its steps; absent, it does not. */
export const trailFolder: string | undefined = process.env["CHAOS_TRAIL"];

/** Where the embedded store of a process without Redis lives. */
export const embeddedDataDir: string = process.env["CHAOS_DATA"] ?? "";

/** Lease of the embedded store. */
export const embeddedLeaseMs: number = Number(process.env["CHAOS_LEASE_MS"] ?? "10000");

/** Where the embedded server listens. */
export const embeddedPort: number = Number(process.env["CHAOS_PORT"] ?? "0");
