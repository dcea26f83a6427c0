/**
 * `reprise/roles`: fronts and workers of many instances that share one Redis.
 */
export { readSettings } from "./config.ts";
export type { SettingSources } from "./parseSettings.ts";
export { parseSettings } from "./parseSettings.ts";
export type { RoleCommand } from "./roleCommands.ts";
export { asProgram, runFront, runOps, runWorker } from "./roleCommands.ts";
export type { FrontExtras, ServedFront } from "./serveFront.ts";
export { serveFront } from "./serveFront.ts";
export type { OpsExtras, ServedOps } from "./serveOps.ts";
export { serveOps } from "./serveOps.ts";
export type { ServedWorker, WorkerExtras } from "./serveWorker.ts";
export { serveWorker } from "./serveWorker.ts";
export type { SettingKind, SettingRow, Settings } from "./settings.ts";
export { settingRows, variableOf } from "./settings.ts";
