// The languages of the onboarding page. A new one is a file and an entry here.
import { ar } from './ar';
import { en, type Texts } from './en';
import { es } from './es';
import { hi } from './hi';
import { id } from './id';
import { ms } from './ms';
import { pt } from './pt';

/** The first is that of a browser which accepts none of them. */
export const LANGUAGES: Readonly<Record<string, Texts>> = { en, es, pt, id, ms, hi, ar };
export const DEFAULT_LANGUAGE = 'en';
const RIGHT_TO_LEFT = new Set(['ar']);

export const directionOf = (language: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr';
