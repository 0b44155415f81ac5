export {
  cannotProtect,
  keyInUse,
  keyReused,
  outcomeOf,
  unknownOutcome,
  type Outcome,
} from './outcome';
