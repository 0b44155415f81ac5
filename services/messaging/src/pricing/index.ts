export { type ChargeFacts, factsOf, isCharged, mergeFacts, saysAnything } from './charge';
export { countriesOf, marketOf, marketOfCountry, MARKETS } from './markets';
export { type Billing, billingOf, type OpenState } from './price-rules';
export {
  CATEGORIES,
  createPriceFinder,
  type PriceFinder,
  type RateCard,
  readRateCard,
} from './rate-card';
