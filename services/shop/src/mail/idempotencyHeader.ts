/**
 * The one word that the mail client and the mail server share.
 */

/** The header in which a sender may put its idempotency key. The server notes it and does nothing with it. */
export const idempotencyHeader = "X-Idempotency-Key";
