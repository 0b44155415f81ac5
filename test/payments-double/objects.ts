// Formats the double's state as the objects of answers and events.
import type { Customer, Invoice, PaymentMethod, World } from './types';

/** `expanded` includes the payment intent, which the processor returns only on request. */
export const invoiceObject = (world: World, invoice: Invoice, expanded = false): object => {
  const { id, customer, status, total, description, metadata, created, paid_at, intent } = invoice;
  return {
    id,
    object: 'invoice',
    customer,
    status,
    total,
    description,
    metadata,
    created,
    currency: 'usd',
    amount_paid: status === 'paid' ? total : 0,
    hosted_invoice_url: status === 'draft' ? null : `${world.base_url}/pay/${id}`,
    status_transitions: { paid_at, finalized_at: null, voided_at: null },
    ...(expanded && {
      payments: {
        object: 'list',
        data: intent ? [{ is_default: true, payment: { payment_intent: intent } }] : [],
      },
    }),
  };
};

export const methodObject = ({ id, customer, last4 }: PaymentMethod): object => ({
  id,
  object: 'payment_method',
  type: 'card',
  customer,
  card: { brand: 'visa', last4, exp_month: 12, exp_year: 2040 },
});

export const customerObject = (world: World, customer: Customer, expanded = false): object => {
  const { id, name, metadata, default_payment_method } = customer;
  const method = world.methods.get(default_payment_method ?? '');
  return {
    id,
    object: 'customer',
    name,
    metadata,
    invoice_settings: {
      default_payment_method: expanded && method ? methodObject(method) : default_payment_method,
    },
  };
};

export const listOf = (data: object[]): object => ({ object: 'list', data, has_more: false });
