// What a role may not do is absent, or disabled with the reason.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../api/queries';
import { Page } from './page';

/** The roles that have a scope. */
const HOLDERS: Record<string, string> = {
  read: 'owner, developer or support',
  send: 'owner, developer or support',
  manage: 'owner or developer',
  billing: 'owner or billing',
};

interface AllowedProps {
  scope: string;
  children: ReactNode;
}

/** Content that a role without the scope does not see. */
export const IfMay = ({ scope, children }: AllowedProps) => (useMay()(scope) ? children : null);

/** Forms that a role without the scope reads. */
export function Changeable({ scope, children }: AllowedProps) {
  if (useMay()(scope)) return children;
  return (
    <fieldset disabled className="readable">
      <Text size="sm" c="dimmed">{`Only the role ${HOLDERS[scope]} changes this.`}</Text>
      {children}
    </fieldset>
  );
}

/** Instead of a screen that the role does not include. */
export const NotIncluded = ({ title, scope }: { title: string; scope: string }) => (
  <Page title={title} description={`Only the role ${HOLDERS[scope]} sees this page.`}>
    {null}
  </Page>
);
