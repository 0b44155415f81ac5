// Bars for groups of values, such as days. Nothing is drawn by a library: the overview is the first
// screen, and its size is bounded.

/** In units of the picture, which fills the width of its container. */
const WIDTH = 720;
const HEIGHT = 160;
const GAP_SHARE = 0.25;
/** A bar for the smallest value above 0 stays visible. */
const BAR_MIN = 1;

interface BarsProps {
  /** `name` is the end of the class with the colour: `traffic-sent`. */
  groups: Array<{ key: string; values: Array<{ name: string; value: number }> }>;
  label: string;
  /** The value of the highest bar. */
  most: number;
}

export function Bars({ groups, label, most }: BarsProps) {
  const width = WIDTH / groups.length;
  return (
    <svg
      className="traffic"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {groups.map(({ key, values }, at) => {
        const bar = (width * (1 - GAP_SHARE)) / values.length;
        return values.map(({ name, value }, series) => {
          const height = value === 0 ? 0 : Math.max(BAR_MIN, (value / most) * HEIGHT);
          return (
            <rect
              key={`${key}/${name}`}
              className={`traffic-${name}`}
              x={at * width + series * bar + (width * GAP_SHARE) / 2}
              y={HEIGHT - height}
              width={bar}
              height={height}
            />
          );
        });
      })}
    </svg>
  );
}
