/**
 * Random text for ids, tokens and seeds, drawn from a pool: one system call for some hundred of them.
 */
import { randomFillSync } from "node:crypto";

/** 144 bits: 24 characters of base64url. */
const BYTES = 18;

const pool = Buffer.allocUnsafe(BYTES * 256);
let used = pool.length;

/** 24 characters of base64url with 144 random bits, never given out twice. */
export function randomText(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  return pool.toString("base64url", used - BYTES, used);
}
