import { Plus } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { Page } from '../../ui/page.tsx';
import { EndpointCards } from './endpoint-cards.tsx';

/** The dashboard: every endpoint as a card. */
export function HomePage() {
  return (
    <Page
      title="Dashboard"
      description="Your endpoints and their captured requests."
      actions={
        <Button variant="primary" onClick={() => runCommand(COMMAND_IDS.newEndpoint)}>
          <Plus /> Create Endpoint
        </Button>
      }
    >
      <EndpointCards />
    </Page>
  );
}
