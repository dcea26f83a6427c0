/**
 * The dashboard's pages, from their start: one script that the shell loads.
 *
 * Everything shown comes from `/ops/api` (src/wire.ts). Nothing is kept in the browser.
 */
import "./pages.css";
import { render } from "preact";
import { App } from "./app.tsx";

const place = document.querySelector("#page");
if (place !== null) render(<App />, place);
