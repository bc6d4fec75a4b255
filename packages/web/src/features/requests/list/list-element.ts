/** The list of captured requests, which gets the focus after something that covered it has closed. */
export const listElement = (): HTMLElement | null => document.querySelector<HTMLElement>('[role="grid"]');
