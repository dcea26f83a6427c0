/**
 * @reprise/pool: where handlers run when they do not run in the front.
 */
export {};
