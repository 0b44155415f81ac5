// Extracts the metrics of a query with the labels that it selects or groups by. This is not a full
// parser: unknown words count as metrics, so that a mistake fails a test.
export interface Named {
  metric: string;
  labels: string[];
}

const WORDS = new Set(
  (
    'and or unless by on ignoring without group_left group_right offset bool ' +
    'sum min max avg count topk rate increase histogram_quantile min_over_time max_over_time ' +
    'predict_linear time vector'
  ).split(' '),
);

/** Suffixes of a histogram's series in the text format. */
const SERIES = /_(bucket|sum|count)$/;

export function namesIn(expr: string): { metrics: Named[]; grouping: string[] } {
  const grouping: string[] = [];
  // Remove label lists first: they would look like metrics.
  const rest = expr.replace(
    /\b(by|on|ignoring|without)\s*\(([^)]*)\)/g,
    (_all, _word, list: string) => {
      grouping.push(
        ...list
          .split(',')
          .map((label) => label.trim())
          .filter(Boolean),
      );
      return ' ';
    },
  );
  const metrics: Named[] = [];
  const name = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?/g;
  // Durations, numbers and strings are not names.
  const bare = rest.replace(/\[[^\]]*\]/g, '').replace(/offset\s+\w+/g, '');
  for (const [, word = '', selector = ''] of bare.matchAll(name)) {
    if (WORDS.has(word) || word === 'le') continue;
    const labels = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(
      ([, label]) => label as string,
    );
    metrics.push({ metric: word, labels });
  }
  return { metrics, grouping };
}

export const familyOf = (metric: string): string => metric.replace(SERIES, '');
