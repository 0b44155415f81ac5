import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Card } from './card';
import { Empty } from './empty';

export const NoNumber = () => (
  <Card>
    <Empty title="No number is connected yet">
      <Anchor component={Link} to="/numbers">
        Connect a number
      </Anchor>{' '}
      first.
    </Empty>
  </Card>
);
