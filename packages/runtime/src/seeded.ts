/**
 * Values that are the same on every attempt: derived from the run's seed and a name, never drawn again.
 * They are predictable for whoever knows the seed, so they must not be used as secrets.
 */
import { createHash } from "node:crypto";

function bytesOf(seed: string, purpose: string, name: string): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([seed, purpose, name]))
    .digest();
}

/** A version 4 UUID (RFC 9562). */
export function seededUuid(seed: string, name: string): string {
  const bytes = bytesOf(seed, "uuid", name);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** A number in [0, 1) with 48 random bits. */
export function seededRandom(seed: string, name: string): number {
  return bytesOf(seed, "random", name).readUIntBE(0, 6) / 2 ** 48;
}
