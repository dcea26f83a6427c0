/**
 * @reprise/store-redis: once runs and the key ring on Redis, for many machines.
 */
export type { RedisClient, RedisConnection } from "./connection.ts";
export { connectRedis } from "./connection.ts";
export type { RedisAddress, RedisConnectionOptions } from "./connectionOptions.ts";
export type { KeyRingAddress, KeyRingOpenOptions, RedisKeyRing } from "./keyRing.ts";
export { openKeyRing, openKeyRingAdmin, openKeyRingReading } from "./keyRing.ts";
export { createRedisKeyRingStore } from "./keyRingStore.ts";
export type { RedisStoreOptions } from "./options.ts";
export { unpacked } from "./packedText.ts";
export type { RedisStore } from "./redisStore.ts";
export { openRedisStore } from "./redisStore.ts";
export type { RedisDurability } from "./startChecks.ts";
export type { StoreClock } from "./storeClock.ts";
