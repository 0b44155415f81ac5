import type { Component } from '@bmg/common/lifecycle';
import type { Chunks } from '../store/chunks';
import { createStateWriter, type StateWriter } from './state-writer';
import { applyContactStatuses } from './status-events';

export interface ContactStatesFeature {
  stateWriter: StateWriter;
  applyStatuses: ReturnType<typeof applyContactStatuses>;
  components: Component[];
}

export function wireContactStates(chunks: Chunks): ContactStatesFeature {
  const stateWriter = createStateWriter(chunks);
  return {
    stateWriter,
    applyStatuses: applyContactStatuses(stateWriter),
    components: [stateWriter],
  };
}
