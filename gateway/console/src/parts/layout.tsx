// What screens are made of: pages, cards, sections and facts, links to other screens, and what is
// read: its data, its error with the request ID for support, or its skeleton.
import {
  Alert,
  Anchor,
  Box,
  Button,
  Center,
  Code,
  Group,
  Paper,
  Skeleton,
  Stack,
  Text,
  Title,
  type AnchorProps,
  type ButtonProps,
  type TextProps,
} from '@mantine/core';
import { CheckCircledIcon, ExclamationTriangleIcon } from '@radix-ui/react-icons';
import { createLink } from '@tanstack/react-router';
import { useEffect, type ReactNode, type Ref } from 'react';
import type { ApiFailure } from '../api/client';
import type { Work } from '../api/queries';
import { Copy } from './values';

interface PageProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
}

/** A page without navigation, for a browser without a session. */
export function FrontPage({ title, children }: Pick<PageProps, 'title' | 'children'>) {
  useTitle(title);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420} radius="lg">
        <Stack>{children}</Stack>
      </Paper>
    </Center>
  );
}

/** A screen: its heading, its actions, and its content. */
export function Page({ title, description, actions, children }: PageProps) {
  useTitle(title);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} flex={{ base: '1 1 100%', sm: '1 1 0' }}>
          <Title order={1} size="h2" tabIndex={-1}>
            {title}
          </Title>
          {description && (
            <Text c="dimmed" size="sm" mt={4} maw={720}>
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

interface TitledProps {
  title?: string;
  /** Beside the title. */
  aside?: ReactNode;
  children?: ReactNode;
}

export const Card = ({ title, aside, children }: TitledProps) => (
  <Paper component="section" withBorder p="md" aria-label={title}>
    {title && (
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5">
          {title}
        </Title>
        {aside}
      </Group>
    )}
    {children}
  </Paper>
);

/** A part of a panel. */
export const Section = ({ title, aside, children }: TitledProps) => (
  <Stack gap="xs">
    <Group justify="space-between">
      <Title order={3} size="h5">
        {title}
      </Title>
      {aside}
    </Group>
    {children}
  </Stack>
);

/** A remark below or beside what it is about. */
export const Hint = (props: TextProps & { children: ReactNode }) => (
  <Text size="xs" c="dimmed" {...props} />
);

/** A list without entries: why it is empty and what to do next. */
export const Empty = ({ title, children }: TitledProps) => (
  <Center py="xl" px="md">
    <Stack gap={4} align="center" maw={440}>
      <Text fw={600}>{title}</Text>
      <Text component="div" size="sm" c="dimmed" ta="center">
        {children}
      </Text>
    </Stack>
  </Center>
);

export const EmptyCard = (props: TitledProps) => (
  <Card>
    <Empty {...props} />
  </Card>
);

/** There is no problem. */
export const AllWell = ({ children }: { children: ReactNode }) => (
  <Group gap="xs" wrap="nowrap">
    <CheckCircledIcon aria-hidden color="var(--mantine-color-green-text)" />
    <Text size="sm">{children}</Text>
  </Group>
);

/** Names and values. Pairs without a value are left out. */
export const Facts = ({ of }: { of: ReadonlyArray<readonly [string, ReactNode]> }) => (
  <dl className="facts">
    {of
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
  </dl>
);

/** The addresses and filters of links are checked by the types of the router. */
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

interface FormProps {
  onSubmit: () => void;
  children: ReactNode;
}

/** A form that the browser does not send itself. */
export const Form = ({ onSubmit, children }: FormProps) => (
  <form
    onSubmit={(event) => {
      event.preventDefault();
      // React passes it on to a form that renders a dialog with this one.
      event.stopPropagation();
      onSubmit();
    }}
  >
    {children}
  </form>
);

interface WorkButtonProps extends ButtonProps {
  work: Work;
  'aria-label'?: string;
  children: ReactNode;
}

/** A button that starts a work, and shows that it is in progress. */
export const WorkButton = ({ work, ...button }: WorkButtonProps) => (
  <Button {...button} loading={work.isPending} onClick={() => work.mutate()} />
);

interface FailureProps {
  error: Error;
  /** The failure, for example "The numbers could not be loaded." */
  title?: string;
  retry?: () => void;
}

/** An error with its request id, for support. */
export function Failure({ error, title, retry }: FailureProps) {
  const { code, request_id, payment_url } = error as Partial<ApiFailure>;
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<ExclamationTriangleIcon aria-hidden />}
      title={title ?? 'That did not work'}
    >
      <Text size="sm">{error.message}</Text>
      <Group gap="xs" mt="xs">
        {code && <Code>{code}</Code>}
        {request_id && (
          <>
            <Text size="xs">Request</Text>
            <Code>{request_id}</Code>
            <Copy text={request_id} label="Copy the request ID" />
          </>
        )}
        {payment_url && (
          <Anchor href={payment_url} size="sm" target="_blank" rel="noreferrer">
            Open the payment page
          </Anchor>
        )}
        {retry && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

interface LoadedProps<T> {
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
  /** The name of the data, for the error: "the numbers". */
  what: string;
  lines?: number;
  children: (data: T) => ReactNode;
}

/** A query's data, its error or its skeleton. Earlier data stays visible while it is read again. */
export function Loaded<T>({ query, what, lines = 4, children }: LoadedProps<T>) {
  const { data, error, refetch } = query;
  if ((error as Partial<ApiFailure> | null)?.code === 'SCOPE_MISSING') {
    return (
      <Text size="sm" c="dimmed">
        Your role does not include {what}.
      </Text>
    );
  }
  return (
    <>
      {error && (
        <Failure error={error} title={`Failed to load ${what}`} retry={() => void refetch()} />
      )}
      {data !== undefined && children(data)}
      {data === undefined && !error && (
        <Stack gap="sm" aria-busy aria-label={`Loading ${what}`} role="status">
          {Array.from({ length: lines }, (_, line) => (
            <Skeleton key={line} height={28} radius="sm" />
          ))}
        </Stack>
      )}
    </>
  );
}

type LoadedCardProps<T> = Omit<TitledProps, 'children'> & LoadedProps<T>;

/** A card of what is read. */
export const LoadedCard = <T,>({ title, aside, ...loaded }: LoadedCardProps<T>) => (
  <Card title={title} aside={aside}>
    <Loaded {...loaded} />
  </Card>
);

/** The errors of queries whose data is shown elsewhere. */
export const FailuresOf = ({
  queries,
  what,
}: {
  queries: Array<LoadedProps<unknown>['query']>;
  what: string;
}) =>
  queries.map(
    (query, at) =>
      query.error && (
        <Loaded key={at} query={query} what={what}>
          {() => null}
        </Loaded>
      ),
  );
