// Links to other screens. Their addresses and filters are checked by the types of the router.
import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ReactNode, Ref } from 'react';

interface Linked {
  children?: ReactNode;
  ref?: Ref<HTMLAnchorElement>;
}

export const TextLink = createLink((props: AnchorProps & Linked) => (
  <Anchor size="sm" {...props} />
));

export const ButtonLink = createLink((props: ButtonProps & Linked) => (
  <Button component="a" variant="default" {...props} />
));
