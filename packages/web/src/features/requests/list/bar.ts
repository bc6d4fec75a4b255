/**
 * Looks of the bar above the list, in a container. Whether it holds the filters or what can be done with what is marked, it is as
 * high: the rows stay where they are when the first is marked.
 */
export const BAR = 'flex min-h-19 flex-wrap items-center gap-y-1 border-b px-3 py-1 @xl:min-h-10';
