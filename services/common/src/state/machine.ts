// A state machine is a table that the code, the database filter and the tests read.
export interface Move<State extends string> {
  from: readonly State[];
  to: State;
}

export interface Machine<State extends string, Event extends string> {
  /** The states that an event may leave: what a conditional update filters by. */
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
