// Bars in a row of a table, and the shares of a whole as one bar.
import type { CSSProperties } from 'react';
import { countOf, percent } from '../period';
import type { Series } from './plot';

const WHOLE = 100;

interface TwoBarsProps {
  thick: number;
  /** Drawn below the other one. */
  thin: number;
  /** The amount of a whole width. */
  most: number;
}

/** Decoration: the cells beside it have the figures. */
export const TwoBars = ({ thick, thin, most }: TwoBarsProps) => (
  <svg aria-hidden viewBox="0 0 100 10" preserveAspectRatio="none" className="bars">
    <rect width={(thick / most) * WHOLE} height="5" className="bar-thick" />
    <rect y="6" width={(thin / most) * WHOLE} height="3" className="bar-thin" />
  </svg>
);

export interface Share {
  name: string;
  count: number;
  /** The design token of its colour. */
  colour: Series['colour'];
}

/** Sets the colour of a bar, for style.css. */
export const barOf = (colour: string): CSSProperties =>
  ({ '--bar': `var(--${colour})` }) as CSSProperties;

/** The legend has the figures; the bar is decoration. Shares of nothing are listed only. */
export function ShareBar({ parts }: { parts: readonly Share[] }) {
  const whole = parts.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {whole > 0 && (
        <div className="shares" aria-hidden>
          {parts
            .filter(({ count }) => count > 0)
            .map(({ name, count, colour }) => (
              <span key={name} style={{ ...barOf(colour), flexGrow: count }} />
            ))}
        </div>
      )}
      <ul className="chart-legend">
        {parts.map(({ name, count, colour }) => (
          <li key={name} style={barOf(colour)}>
            {`${countOf(count)} ${name}`}
            {whole > 0 && ` (${percent(count, whole)})`}
          </li>
        ))}
      </ul>
    </>
  );
}
