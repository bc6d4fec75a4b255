import { getRouteApi } from '@tanstack/react-router';
import type { DetailTab } from './default-tab.ts';

const route = getRouteApi('/signed-in/endpoints/$uid');

export const FILTERS = ['all', 'get', 'post', 'put', 'delete'] as const;
export type Filter = (typeof FILTERS)[number];

/** What the user looks at is in the URL, so that it survives reloading, going back, and sharing the link. */
export interface ViewState {
  readonly request?: number | undefined;
  readonly tab?: DetailTab | undefined;
  readonly filter?: Filter | undefined;
  readonly find?: string | undefined;
  readonly compare?: number | undefined;
}

export type ChangeView = (change: ViewState, options?: { readonly push?: boolean }) => void;

/** The view state and a function to change it. Only opening something adds an entry to the browser history. */
export function useViewState(): readonly [ViewState, ChangeView] {
  const state: ViewState = route.useSearch();
  const navigate = route.useNavigate();
  const change: ChangeView = (wanted, { push = false } = {}) => {
    void navigate({ search: (before) => ({ ...before, ...wanted }), replace: !push });
  };
  return [state, change];
}
