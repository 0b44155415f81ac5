// What a rule of Prometheus is made from.
export interface Recording {
  record: string;
  expr: string;
}

export interface Alert {
  name: string;
  /** page: a person is woken. ticket: on the next working day. */
  severity: 'page' | 'ticket';
  for: string;
  expr: string;
  summary: string;
  /** Metrics of others (exporters of the engines, the cluster) that it needs: without them it never fires. */
  needs?: string[];
}
