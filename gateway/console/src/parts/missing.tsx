import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Page } from './page';

export function Missing() {
  return (
    <Page title="No such page" description="The console has no page at this address.">
      <Anchor component={Link} to="/">
        Go to the overview
      </Anchor>
    </Page>
  );
}
