/** The list of captured requests, where the keyboard goes on when what lay over it is gone. */
export const listElement = (): HTMLElement | null => document.querySelector<HTMLElement>('[role="grid"]');
