import { Plus } from 'lucide-react';
import { COMMAND_IDS } from '../../ui/commands.ts';
import { runCommand } from '../../ui/commands.ts';
import { EndpointCards } from './endpoint-cards.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';

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
