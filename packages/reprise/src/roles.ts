/**
 * `reprise/roles`: fronts and workers of many instances that share one Redis.
 */
export { readSettings } from "./config.ts";
export type { SettingSources } from "./parseSettings.ts";
export { parseSettings } from "./parseSettings.ts";
export type { SettingKind, SettingRow, Settings } from "./settings.ts";
export { settingRows, variableOf } from "./settings.ts";
