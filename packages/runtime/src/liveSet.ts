/**
 * A set for what comes and goes with every request, in no order.
 *
 * Not a `Set`: V8 rebuilds the table of one that is filled and emptied all the time, and each table that was dropped keeps
 * what it held and points to the next one. Once one of them is in the old generation, all that went through the set stays alive
 * until a major collection: half of the CPU time of a short call then goes into copying what is long dead.
 */

/** A member. `slot` belongs to the set. */
export interface LiveMember {
  slot: number;
}

/** Members of which each is in one set at most. */
export class LiveSet<Member extends LiveMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    member.slot = this.#members.length;
    this.#members.push(member);
  }

  /** Takes out a member that is in the set. */
  delete(member: Member): void {
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[member.slot] = last;
    last.slot = member.slot;
  }

  /** The members of this moment; the set may change while they are gone through. */
  members(): readonly Member[] {
    return [...this.#members];
  }
}
