// The tables that Prometheus's rules are generated from.
export interface Recording {
  record: string;
  expr: string;
}

export interface Alert {
  name: string;
  /** page: wakes a person. ticket: can wait until the next working day. */
  severity: 'page' | 'ticket';
  for: string;
  expr: string;
  summary: string;
  /** Metrics of engine exporters or the cluster; without them the alert never fires. */
  needs?: string[];
}
