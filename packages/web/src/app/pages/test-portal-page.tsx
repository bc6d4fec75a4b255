import { useSearch } from '@tanstack/react-router';
import { TestPortal } from '../../features/subscription/test-gateway/test-portal.tsx';
import { returnPath } from '../../model/own-path.ts';
import { Button } from '../../ui/button.tsx';
import { TEST_MODE } from '../../features/subscription/subscription-labels.ts';
import { Notice } from '../../ui/notice.tsx';
import { PublicLayout } from '../layout/public-layout.tsx';

/** The billing portal of the built-in test gateway. */
export function TestPortalPage() {
  const { return: back } = useSearch({ from: '/billing/test/portal' });
  return (
    <PublicLayout
      title="Test billing portal"
      heading="Billing portal"
      description="Your subscription, with a clock you can move."
    >
      <Notice tone="warn">{TEST_MODE}</Notice>
      <TestPortal />
      <Button asChild variant="ghost">
        {/* A new page, as when the browser comes back from another site: it reads the account again. */}
        <a href={returnPath(back, location.origin)}>Return to Creel</a>
      </Button>
    </PublicLayout>
  );
}
