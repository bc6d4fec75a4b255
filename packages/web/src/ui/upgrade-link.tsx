import { Link } from '@tanstack/react-router';

/** Leads from a limit of the plan to the plans. */
export function UpgradeLink({ onClick }: { readonly onClick?: () => void }) {
  return (
    <Link to="/subscription" onClick={onClick} className="font-medium underline underline-offset-2">
      Upgrade
    </Link>
  );
}
