export { defineMachine, type Machine, type Move } from './machine';
