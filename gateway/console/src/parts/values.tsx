// Values in a row or a fact: a state, an ID that can be copied, JSON, and a time in the reader's
// zone, which shows UTC on hover.
import { ActionIcon, Badge, Box, Code, CopyButton, Tooltip } from '@mantine/core';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';

/**
 * The states that the API names, by colour; others are gray. Colour never stands alone: the word is
 * in the badge.
 */
const STATES = {
  green: 'active connected delivered read completed done succeeded paid requested APPROVED GREEN',
  teal: 'sent',
  blue: 'invited processing running scheduled resuming',
  yellow:
    'unknown waiting waits_for_approval pending pausing retrying untested PENDING IN_APPEAL YELLOW',
  orange: 'paused action_required PAUSED',
  red: 'expired failed declined breaking RED REJECTED DISABLED',
};
const COLOURS = new Map(
  Object.entries(STATES).flatMap(([colour, states]) =>
    states.split(' ').map((state) => [state, colour] as const),
  ),
);

export function State({ of }: { of: string | null | undefined }) {
  if (!of) return <span>–</span>;
  return (
    <Badge color={COLOURS.get(of) ?? 'gray'} variant="dot" size="md" tt="none" fw={500}>
      {of.toLowerCase().replace(/_/g, ' ')}
    </Badge>
  );
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={label}>
            {copied ? <CheckIcon aria-hidden /> : <CopyIcon aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** JSON or a program, with a button that copies it. */
export function Block({ text, label }: { text: string; label: string }) {
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} fz={12}>
        {text}
      </Code>
      <Box pos="absolute" top={6} right={6} className="block-copy">
        <Copy text={text} label={`Copy ${label}`} />
      </Box>
    </Box>
  );
}

export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <Block text={JSON.stringify(value, null, 2)} label={label} />
);

/** For a fact that is left out if it is not known. */
export const yesNo = (value: unknown): string | undefined =>
  value === true ? 'yes' : value === false ? 'no' : undefined;

/** `of` names what the ID is of: `event`. */
export const Id = ({ of, text }: { of: string; text: string }) => (
  <span>
    {text} <Copy text={text} label={`Copy the ${of} ID`} />
  </span>
);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const formatOf = (parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, parts);
const DAY = { month: 'short', day: 'numeric' } as const;
const MINUTE = { hour: '2-digit', minute: '2-digit' } as const;
const SECOND = { ...MINUTE, second: '2-digit' } as const;
const short = formatOf({ ...DAY, ...MINUTE, timeZoneName: 'short' });
const exact = formatOf({ year: 'numeric', ...DAY, ...SECOND, timeZoneName: 'short' });
const clock = formatOf(SECOND);
const dayAndClock = formatOf({ ...DAY, ...MINUTE });
const dateOnly = formatOf({ year: 'numeric', ...DAY });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const utc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The reader's offset from UTC: `GMT+9`. */
const offset = (): string =>
  short.formatToParts(new Date()).find(({ type }) => type === 'timeZoneName')?.value ?? '';

/** The reader's zone: `Asia/Tokyo (GMT+9)`. */
export const zoneName = (): string => `${short.resolvedOptions().timeZone} (${offset()})`;

/** The title of a column whose times are shown as `row`. */
export const zoned = (title: string): string => `${title}, ${offset()}`;

function agoOf(time: Date, now: number): string {
  const distance = time.getTime() - now;
  const size = Math.abs(distance);
  if (size < HOUR_MS) return relative.format(Math.round(distance / MINUTE_MS), 'minute');
  if (size < DAY_MS) return relative.format(Math.round(distance / HOUR_MS), 'hour');
  return relative.format(Math.round(distance / DAY_MS), 'day');
}

function rowFormat(time: Date): Intl.DateTimeFormat {
  const now = new Date();
  if (time.toDateString() === now.toDateString()) return clock;
  return time.getFullYear() === now.getFullYear() ? dayAndClock : dateOnly;
}

const FORMATS = {
  short: () => short,
  exact: () => exact,
  row: rowFormat,
};

interface TimeProps {
  value: string | null | undefined;
  /**
   * short: day and minute. exact: with seconds. ago: the distance from now. row: the time of today,
   * the day and time of this year, else the date; the title of the column has the zone.
   */
  as?: 'short' | 'exact' | 'ago' | 'row';
}

export function Time({ value, as = 'short' }: TimeProps) {
  if (!value) return <span>–</span>;
  const time = new Date(value);
  const text = as === 'ago' ? agoOf(time, Date.now()) : FORMATS[as](time).format(time);
  return (
    <time
      dateTime={value}
      title={as === 'ago' ? `${exact.format(time)} · ${utc(time)}` : utc(time)}
    >
      {text}
    </time>
  );
}

/** For a fact that is left out without a time. */
export const timeIfAny = (value: TimeProps['value'], as?: TimeProps['as']) =>
  value && <Time value={value} as={as} />;
