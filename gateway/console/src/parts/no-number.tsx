import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useActiveNumbers } from '../api/queries';
import { Card } from './card';
import { Empty } from './empty';
import { Loaded } from './loaded';

/** Instead of a screen about a number: until the numbers are loaded, and if there is none. */
export const NoNumber = () => (
  <Loaded query={useActiveNumbers()} what="your numbers">
    {() => (
      <Card>
        <Empty title="No number is connected yet">
          <Anchor component={Link} to="/numbers">
            Connect a number
          </Anchor>{' '}
          first.
        </Empty>
      </Card>
    )}
  </Loaded>
);
