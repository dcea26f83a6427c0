/**
 * The places where a steered process stops and waits for its parent.
 *
 * Names are the same in every run that takes the same way: they hold no ids, times or addresses.
 */
import process from "node:process";
import type { Report } from "../messages.ts";

/** Tells the parent something. */
export function tell(report: Report): void {
  process.send?.(report);
}

/** The points that this process waits at. */
export class Points {
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  /** Announces a point; resolves when the parent lets it go. */
  at(name: string): Promise<void> {
    this.#last += 1;
    const point = this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(point, resolve);
      tell({ tells: "point", point, name });
    });
  }

  /** The parent lets a point go. */
  go(point: number): void {
    const resolve = this.#waiting.get(point);
    this.#waiting.delete(point);
    resolve?.();
  }

  /** The same function, with a point before it is called and one after it has answered. */
  around<Args extends readonly unknown[], Value>(
    name: string,
    call: (...args: Args) => Promise<Value>,
    describe: (value: Value) => string = () => "",
  ): (...args: Args) => Promise<Value> {
    return async (...args) => {
      await this.at(`before ${name}`);
      let value: Value;
      try {
        value = await call(...args);
      } catch (error) {
        await this.at(`after ${name}: it threw`);
        throw error;
      }
      const answer = describe(value);
      await this.at(answer === "" ? `after ${name}` : `after ${name}: ${answer}`);
      return value;
    };
  }
}
