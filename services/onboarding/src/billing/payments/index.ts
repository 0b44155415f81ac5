export { refuseUnlessPaid, takePlace } from './place';
