/** Who looks, for every part of a page. */
import { createContext } from "preact";
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
