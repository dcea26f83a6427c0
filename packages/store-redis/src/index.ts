/**
 * @reprise/store-redis: once runs and the key ring on Redis, for many machines.
 */
export {};
