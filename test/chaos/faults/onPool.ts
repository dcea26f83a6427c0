/**
 * Kinds of faults on the pool: what all of them are made of.
 */
import type { Draw } from "../draw.ts";
import type { Fault, Struck } from "../fault.ts";
import { openPool, type Pool, type PoolPlan } from "../world/pool.ts";

/** A kind of fault that is one strike on a pool. */
export interface PoolFault extends Omit<Fault, "open"> {
  readonly plan?: PoolPlan;
  /** Once, before anybody calls. Undone with the pool. */
  readonly prepare?: (pool: Pool) => Promise<void>;
  readonly strike: (pool: Pool, draw: Draw) => Promise<string | Struck>;
  readonly settle?: (pool: Pool, gone: Promise<void>) => Promise<void>;
}

/** Opens a pool for each time that the fault is played. */
export function onPool({ plan = {}, prepare, strike, settle, ...fault }: PoolFault): Fault {
  return {
    ...fault,
    async open(stage) {
      const pool = await openPool(stage, plan);
      try {
        await prepare?.(pool);
      } catch (error) {
        await pool.close();
        throw error;
      }
      return {
        url: pool.url,
        outside: pool.cluster.outside,
        leaseMs: pool.leaseMs,
        ...{ deaths: pool.deaths, ends: pool.ends, trailFolder: pool.trailFolder },
        strike: (draw) => strike(pool, draw),
        ...(settle === undefined ? {} : { settle: (gone: Promise<void>) => settle(pool, gone) }),
        openStore: () => pool.look(),
        close: () => pool.close(),
      };
    },
  };
}
