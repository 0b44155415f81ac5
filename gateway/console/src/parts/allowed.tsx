// What a role may not do is absent, or disabled with the reason.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { sessionQuery, useMay } from '../api/queries';
import type { Scope } from '../api/types';
import { Page } from './layout';

/** The roles that have the scope: `owner, developer or support`. */
function useHolders(scope: Scope): string {
  // A gateway of the previous release answers without them.
  const roles = useQuery(sessionQuery).data?.holders?.[scope] ?? [];
  return roles.join(', ').replace(/, (\w+)$/, ' or $1');
}

interface AllowedProps {
  scope: Scope;
  children: ReactNode;
}

/** Content that a role without the scope does not see. */
export const IfMay = ({ scope, children }: AllowedProps) => (useMay()(scope) ? children : null);

/** Forms that a role without the scope reads. */
export function Changeable({ scope, children }: AllowedProps) {
  const holders = useHolders(scope);
  if (useMay()(scope)) return children;
  return (
    <fieldset disabled className="readable">
      <Text size="sm" c="dimmed">{`Only the role ${holders} changes this.`}</Text>
      {children}
    </fieldset>
  );
}

/** Instead of a screen that the role does not include. */
export const NotIncluded = ({ title, scope }: { title: string; scope: Scope }) => (
  <Page title={title} description={`Only the role ${useHolders(scope)} sees this page.`}>
    {null}
  </Page>
);
