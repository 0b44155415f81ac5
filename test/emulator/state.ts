// The state of the emulated platform. One instance is one "world"; a reset creates a new one.
import {
  buildCustomer,
  type Account,
  type BusinessNumber,
  type CallRecord,
  type Customer,
  type Flow,
  type Group,
  type Media,
  type SignupCode,
  type Template,
  type Token,
  type Upload,
} from './types';
import { derivedBsuid, isBsuid } from './ids';

const CODES_MAX = 10_000;
const CODE_LIFETIME_MS = 30_000;
const CUSTOMERS_MAX = 200_000;
const INBOUND_MAX = 200_000;
const KNOWN_MESSAGES_MAX = 200_000;

/** The kinds of nodes, with the maps that hold them. */
export const NODES = {
  number: 'numbers',
  account: 'accounts',
  media: 'media',
  template: 'templates',
  flow: 'flows',
  group: 'groups',
  upload: 'uploads',
} as const;
export type Kind = keyof typeof NODES | 'app';

export class State {
  readonly accounts = new Map<string, Account>();
  readonly numbers = new Map<string, BusinessNumber>();
  readonly tokens = new Map<string, Token>();
  readonly codes = new Map<string, SignupCode>();
  readonly templates = new Map<string, Template>();
  readonly flows = new Map<string, Flow>();
  readonly media = new Map<string, Media>();
  readonly uploads = new Map<string, Upload>();
  readonly groups = new Map<string, Group>();
  readonly calls = new Map<string, CallRecord>();
  /** Null until the first change: the app gets all fields, at the configured address. */
  app_subscription: { callback_url: string; fields: string[] } | null = null;
  private readonly customers = new Map<string, Customer>();
  private readonly customers_by_id = new Map<
    string,
    { portfolio_id: string; customer: Customer }
  >();
  private readonly inbound = new Map<string, number>();
  private readonly inbound_ids = new Map<string, string>();

  kindOf(id: string): Kind | null {
    const kinds = Object.keys(NODES) as Array<keyof typeof NODES>;
    return kinds.find((kind) => this[NODES[kind]].has(id)) ?? null;
  }

  accountOf(number: BusinessNumber): Account {
    return this.accounts.get(number.waba_id) as Account;
  }

  numbersOf(account: Account): BusinessNumber[] {
    return account.number_ids.map((id) => this.numbers.get(id) as BusinessNumber);
  }

  addAccount(account: Account): Account {
    this.accounts.set(account.id, account);
    for (const template of account.templates.values()) this.templates.set(template.id, template);
    for (const flow of account.flows) this.flows.set(flow.id, flow);
    return account;
  }

  addNumber(number: BusinessNumber): BusinessNumber {
    this.numbers.set(number.id, number);
    this.accounts.get(number.waba_id)?.number_ids.push(number.id);
    return number;
  }

  addTemplate(template: Template): Template {
    this.accounts.get(template.waba_id)?.templates.set(template.id, template);
    this.templates.set(template.id, template);
    return template;
  }

  removeTemplate(template: Template): void {
    this.accounts.get(template.waba_id)?.templates.delete(template.id);
    this.templates.delete(template.id);
  }

  /** Stores a code of the sign-up dialog for a token; it can be exchanged once. */
  addCode(code: string, token: string, lifetime_ms = CODE_LIFETIME_MS, used = false): SignupCode {
    const record = { token, used, expires_at: Date.now() + lifetime_ms };
    this.codes.set(code, record);
    trim(this.codes, CODES_MAX);
    return record;
  }

  /**
   * The customer of a phone number in a portfolio. An unknown number gets an ID derived from it.
   */
  customerByPhone(portfolio_id: string, wa_id: string): Customer {
    const known = this.customers.get(`${portfolio_id}:${wa_id}`);
    if (known) return known;
    const name = `Customer ${wa_id.slice(-4)}`;
    return buildCustomer({ wa_id, user_id: derivedBsuid(portfolio_id, wa_id), name });
  }

  /** `foreign`: the ID belongs to another portfolio. */
  customerById(portfolio_id: string, user_id: string): Customer | 'foreign' {
    const known = this.customers_by_id.get(user_id);
    if (known) return known.portfolio_id === portfolio_id ? known.customer : 'foreign';
    return buildCustomer({ user_id });
  }

  customer(portfolio_id: string, phone_or_bsuid: string): Customer | 'foreign' {
    return isBsuid(phone_or_bsuid)
      ? this.customerById(portfolio_id, phone_or_bsuid)
      : this.customerByPhone(portfolio_id, phone_or_bsuid);
  }

  saveCustomer(portfolio_id: string, customer: Customer): void {
    if (customer.wa_id) bounded(this.customers, `${portfolio_id}:${customer.wa_id}`, customer);
    for (const id of [customer.user_id, customer.parent_user_id]) {
      if (id) this.customers_by_id.set(id, { portfolio_id, customer });
    }
    trim(this.customers, CUSTOMERS_MAX);
    trim(this.customers_by_id, CUSTOMERS_MAX);
  }

  /** Records that the customer wrote, which opens the 24-hour window and allows blocking. */
  noteInbound(number: BusinessNumber, customer: Customer, message_id: string, at: number): void {
    for (const id of [customer.wa_id, customer.user_id]) {
      if (id) bounded(this.inbound, `${number.id}:${id}`, at);
    }
    this.inbound_ids.set(message_id, number.id);
    trim(this.inbound, INBOUND_MAX);
    trim(this.inbound_ids, KNOWN_MESSAGES_MAX);
  }

  lastInbound(number_id: string, phone_or_bsuid: string): number | undefined {
    return this.inbound.get(`${number_id}:${phone_or_bsuid}`);
  }

  /** The number that received an inbound message, if it is still stored. */
  receiverOf(message_id: string): string | undefined {
    return this.inbound_ids.get(message_id);
  }
}

/** Sets the key and moves it to the end, so that trimming evicts the least recently used. */
function bounded<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
}

function trim<V>(map: Map<string, V>, size_max: number): void {
  while (map.size > size_max) {
    const oldest = map.keys().next().value;
    if (oldest === undefined) return;
    map.delete(oldest);
  }
}
