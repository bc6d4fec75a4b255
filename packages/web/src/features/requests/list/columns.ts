/**
 * The columns of the list: mark, Method, Source, Path, Size, Time, Actions. In a narrow pane the source goes, and the actions lie
 * over size and time while the row is pointed at.
 */
export const COLUMNS =
  'grid items-center gap-x-2 pr-3 grid-cols-[1rem_3.25rem_minmax(0,1fr)_4rem_2rem] ' +
  '@md:grid-cols-[1.25rem_3.25rem_4rem_minmax(0,1fr)_4.25rem_2.5rem_3.25rem]';
