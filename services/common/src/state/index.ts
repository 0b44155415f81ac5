// A state machine as a table, which code, database filters and tests read.

export interface Move<State extends string> {
  from: readonly State[];
  to: State;
}

export function defineMachine<State extends string, Event extends string>(
  moves: Record<Event, Move<State>>,
) {
  return {
    /** The states in which the event is allowed: the filter of a conditional update. */
    from: (event: Event) => moves[event].from,
    to: (event: Event) => moves[event].to,
    allows: (state: State, event: Event) => moves[event].from.includes(state),
    events: Object.keys(moves) as Event[],
  };
}
