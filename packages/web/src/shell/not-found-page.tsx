import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/feedback.tsx';
import { useTitle } from '../ui/page.tsx';

export function NotFoundPage() {
  useTitle('Page Not Found');
  return (
    <div className="grid h-full place-items-center">
      <EmptyState
        page
        icon={<Compass />}
        title="Page Not Found"
        actions={
          <Button asChild variant="primary">
            <Link to="/">Back to Dashboard</Link>
          </Button>
        }
      >
        This page does not exist.
      </EmptyState>
    </div>
  );
}
