/**
 * What bull-board's page lacks for people who do not see it: its buttons that hold nothing but an icon have no name.
 *
 * Runs beside bull-board's own script, touches nothing else of the page, and gives a button the name of its icon (of the lucide
 * set), in our words where we have some: a new release's new button is named too.
 */
import "./board.css";

const words: Readonly<Record<string, string>> = {
  maximize: "Full screen",
  minimize: "Leave full screen",
  "ellipsis-vertical": "More",
};

function nameButtons(): void {
  for (const button of document.querySelectorAll("button:not([aria-label], [title])")) {
    if (button.textContent?.trim() !== "") continue;
    const icon = button.querySelector("svg")?.getAttribute("class") ?? "";
    const [, name] = /\blucide-([a-z0-9-]+)/.exec(icon) ?? [];
    if (name !== undefined) button.setAttribute("aria-label", words[name] ?? spelled(name));
  }
}

/** `list-x` as `List x`. */
function spelled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");
}

new MutationObserver(nameButtons).observe(document.documentElement, {
  subtree: true,
  childList: true,
});
nameButtons();
