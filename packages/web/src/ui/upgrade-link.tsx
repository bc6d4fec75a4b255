import { Link } from '@tanstack/react-router';

/** A link to the plans, shown at a limit of the current plan. */
export function UpgradeLink({ onClick }: { readonly onClick?: () => void }) {
  return (
    <Link to="/subscription" onClick={onClick} className="font-medium underline underline-offset-2">
      Upgrade
    </Link>
  );
}
