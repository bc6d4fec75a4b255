import { getRouteApi, useRouter } from '@tanstack/react-router';

const route = getRouteApi('/signed-in/endpoints/$uid');

/** What the user looks at is in the URL, so that it survives reloading, going back, and sharing the link. */
export type ViewState = Readonly<ReturnType<typeof route.useSearch>>;
export type DetailTab = NonNullable<ViewState['tab']>;

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** True for an entry that was opened from the entry before it. */
    readonly isOpened?: boolean;
  }
}

export const useViewState = (): ViewState => route.useSearch();

/** Changes parts of the view. Only opening something adds an entry to the browser history. */
export function useChangeView() {
  const navigate = route.useNavigate();
  return (wanted: ViewState, { push = false } = {}): void =>
    void navigate({
      search: (before) => ({ ...before, ...wanted }),
      replace: !push,
      state: (before) => (push ? { isOpened: true } : before),
    });
}

/** Leaves what was opened: goes back to the entry before, or makes the given change if a link opened this one. */
export function useLeaveView() {
  const router = useRouter();
  const change = useChangeView();
  return (otherwise: ViewState): void => {
    if (router.state.location.state.isOpened === true) router.history.back();
    else change(otherwise);
  };
}

/** Opens the page with a changed view in a new tab of the browser. */
export function useOpenInTab(): (change: ViewState) => void {
  const router = useRouter();
  return (change) => {
    const { href } = router.buildLocation({
      from: '/endpoints/$uid',
      to: '.',
      search: (before) => ({ ...before, ...change }),
    });
    open(href, '_blank', 'noopener');
  };
}
