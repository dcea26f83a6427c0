export type { LmdbStore } from "./lmdbStore.ts";
export { openLmdbStore } from "./lmdbStore.ts";
export type { LmdbStoreOptions } from "./options.ts";
export type { FileSystemProbe, ProcessLiveness, StoreClock } from "./ports.ts";
