/** Where the keyboard is. */

/** Puts the focus on an element, or on the first input inside of it, after the view has changed. */
export function focusOn(id: string): void {
  requestAnimationFrame(() => {
    const found =
      document.getElementById(id) ?? document.querySelector(`input[name="${CSS.escape(id)}"]`);
    if (found instanceof HTMLElement) found.focus();
  });
}
