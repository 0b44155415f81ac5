// The upstream's markets, and the market of a recipient. Rate cards and the pricing events of the
// upstream spell markets like this; a market is a country or a group of countries. Pure.
import {
  getCountries,
  Metadata,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js';
import { parseBsuid } from '@bmg/common/ids';

/** Source: the upstream's published rate cards. A country that is not listed belongs to Other. */
const COUNTRIES: Readonly<Record<string, string>> = {
  Argentina: 'AR',
  Brazil: 'BR',
  Chile: 'CL',
  Colombia: 'CO',
  Egypt: 'EG',
  France: 'FR',
  Germany: 'DE',
  India: 'IN',
  Indonesia: 'ID',
  Israel: 'IL',
  Italy: 'IT',
  Malaysia: 'MY',
  Mexico: 'MX',
  Netherlands: 'NL',
  Nigeria: 'NG',
  Pakistan: 'PK',
  Peru: 'PE',
  Russia: 'RU',
  'Saudi Arabia': 'SA',
  'South Africa': 'ZA',
  Spain: 'ES',
  Turkey: 'TR',
  'United Arab Emirates': 'AE',
  'United Kingdom': 'GB',
  'North America': 'US CA',
  'Rest of Africa':
    'DZ AO BJ BW BF BI CM TD CG ER ET GA GM GH GW CI KE LS LR LY MG MW ML MR MA MZ NA NE RW SN SL SO SS SD SZ TZ TG TN UG ZM',
  'Rest of Asia Pacific': 'AF AU BD KH CN HK JP LA MN NP NZ PG PH SG LK TW TJ TH TM UZ VN',
  'Rest of Central & Eastern Europe': 'AL AM AZ BY BG HR CZ GE GR HU LV LT MD MK PL RO RS SK SI UA',
  'Rest of Latin America': 'BO CR DO EC SV GT HT HN JM NI PA PY PR UY VE',
  'Rest of Middle East': 'BH IQ JO KW LB OM QA YE',
  'Rest of Western Europe': 'AT BE DK FI IE NO PT SE CH',
};

const OTHER = 'Other';
export const MARKETS: readonly string[] = [...Object.keys(COUNTRIES), OTHER];

const MARKET_BY_COUNTRY: ReadonlyMap<string, string> = new Map(
  Object.entries(COUNTRIES).flatMap(([market, countries]) =>
    countries.split(' ').map((country) => [country, market] as const),
  ),
);

const names = new Intl.DisplayNames('en', { type: 'region' });

/** Countries by their English names and markets by theirs, in lower case. */
const MARKET_BY_NAME: ReadonlyMap<string, string> = new Map([
  ...getCountries().map(
    (code) =>
      [(names.of(code) ?? code).toLowerCase(), MARKET_BY_COUNTRY.get(code) ?? OTHER] as const,
  ),
  ...MARKETS.map((market) => [market.toLowerCase(), market] as const),
]);

/** Countries of a market by their two letters; none for Other, which has all that remain. */
export const countriesOf = (market: string): string[] => COUNTRIES[market]?.split(' ') ?? [];

/**
 * The market of a country that a person names: `br`, `Brazil` or a market; undefined if unknown.
 */
export function marketOfCountry(country: string): string | undefined {
  const text = country.trim();
  const code = text.toUpperCase();
  if ((getCountries() as string[]).includes(code)) return MARKET_BY_COUNTRY.get(code) ?? OTHER;
  return MARKET_BY_NAME.get(text.toLowerCase());
}

const metadata = new Metadata();

/** `recipient` is a BSUID, which begins with its country, or the digits of a phone number. */
export function marketOf(recipient: string): string {
  const bsuid = parseBsuid(recipient);
  if (bsuid !== null) return MARKET_BY_COUNTRY.get(bsuid.slice(0, 2)) ?? OTHER;
  const number = parsePhoneNumberFromString(`+${recipient}`);
  const own = number?.country && MARKET_BY_COUNTRY.get(number.country);
  if (own) return own;
  // Territories share the calling code of a larger country: the rates go by calling code.
  const main = number && mainCountryOf(number.countryCallingCode);
  return (main && MARKET_BY_COUNTRY.get(main)) ?? OTHER;
}

/** The library's types lack this method, which its documentation describes. */
const mainCountryOf = (calling_code: string): CountryCode | undefined =>
  (
    metadata as unknown as {
      getCountryCodesForCallingCode(code: string): CountryCode[] | undefined;
    }
  ).getCountryCodesForCallingCode(calling_code)?.[0];
