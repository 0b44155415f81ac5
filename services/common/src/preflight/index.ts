export { Findings, type Example, type Finding } from './findings';
export {
  ADVICE,
  deliverableOf,
  reason,
  refusal,
  upstreamRefusal,
  type Deliverable,
  type Effect,
  type Reason,
} from './reasons';
export { needsPhone, templateMisfit } from './template-fit';
export { languageOf, statusAfter } from './template-status';
