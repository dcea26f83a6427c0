/** Who looks, for every part of a page. */
import { type Context, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Me } from "../src/wire.ts";

/** Given by the layout once it is known. */
export const MeContext = createContext<Me | undefined>(undefined);

/** @throws Error outside the layout */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === undefined) throw new Error("no part of a page is shown before it is known who looks");
  return me;
}

/** What came of an action. */
export interface Said {
  readonly text: string;
  readonly tone: "good" | "bad" | "warn";
}

/** Says it at the top of the page: the button may be gone by then, as what it did was done. */
export const SayContext: Context<(said: Said) => void> = createContext<(said: Said) => void>(
  () => undefined,
);
