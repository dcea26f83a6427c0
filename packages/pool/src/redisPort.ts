/**
 * What the pool needs of Redis: a shared client for short commands, and clients of its own for what blocks or subscribes.
 *
 * `RedisConnection` of the Redis store has it; an ioredis client fits by its shape.
 */

/** A client, as ioredis makes them. */
export interface PoolRedis {
  readonly status: string;
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
  connect(): Promise<unknown>;
  /** Called by BullMQ only, which knows what single servers and clusters take. */
  duplicate(...args: never[]): unknown;
  disconnect(): void;
  subscribe(...channels: string[]): Promise<unknown>;
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** Where the pool's keys live. */
export interface PoolConnection {
  /** Shared with others; commands on it fail within seconds when Redis is away. */
  readonly client: PoolRedis;
  /** A client of the caller's own whose commands wait for a reconnect (`maxRetriesPerRequest: null`). */
  duplicate(): PoolRedis;
}
