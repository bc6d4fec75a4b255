/** The columns of the list: mark, Method, Source, Path, Size, Time, Actions. The source gives way in a narrow pane. */
export const COLUMNS =
  'grid items-center gap-x-2 pr-3 grid-cols-[1.5rem_3.5rem_minmax(0,1fr)_4rem_2.25rem_3.25rem] ' +
  '@md:grid-cols-[1.5rem_3.5rem_4rem_minmax(0,1fr)_4.25rem_2.75rem_3.25rem]';
