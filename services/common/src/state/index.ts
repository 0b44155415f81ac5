// A state machine as a table, which code, database filters and tests read.

export interface Move<State extends string> {
  from: readonly State[];
  to: State;
}

export interface Machine<State extends string, Event extends string> {
  /** The states in which the event is allowed: the filter of a conditional update. */
  from(event: Event): readonly State[];
  to(event: Event): State;
  allows(state: State, event: Event): boolean;
  readonly events: readonly Event[];
}

export function defineMachine<State extends string, Event extends string>(
  moves: Record<Event, Move<State>>,
): Machine<State, Event> {
  return {
    from: (event) => moves[event].from,
    to: (event) => moves[event].to,
    allows: (state, event) => moves[event].from.includes(state),
    events: Object.keys(moves) as Event[],
  };
}
