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

export type ChangeView = (change: ViewState, options?: { readonly push?: boolean }) => void;

/**
 * The view state, a function to change it, and one to leave what was opened. Only opening something adds an entry to
 * the browser history. Leaving goes back to the entry before, or makes the given change if a link opened this one.
 */
export function useViewState(): readonly [ViewState, ChangeView, (otherwise: ViewState) => void] {
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const router = useRouter();
  const change: ChangeView = (wanted, { push = false } = {}) => {
    void navigate({
      search: (before) => ({ ...before, ...wanted }),
      replace: !push,
      state: (before) => (push ? { isOpened: true } : before),
    });
  };
  const leave = (otherwise: ViewState): void => {
    if (router.state.location.state.isOpened === true) router.history.back();
    else change(otherwise);
  };
  return [view, change, leave];
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
