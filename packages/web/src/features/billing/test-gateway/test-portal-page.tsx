import { useSearch } from '@tanstack/react-router';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { PublicLayout } from '../../../ui/page.tsx';
import { returnPath } from '../../../ui/urls.ts';
import { TEST_MODE } from '../subscription-labels.ts';
import { TestPortal } from './test-portal.tsx';

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
