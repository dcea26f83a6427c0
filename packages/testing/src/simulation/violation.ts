/** Something that must not have happened: what the client, the fleet and the judges of a case throw. */
export class Violation extends Error {}
