// Whether the Stripe-Signature header of a payment webhook is worth forwarding: onboarding, which knows
// the secret, verifies it. Pure.

/** As in onboarding's check. */
const AGE_MAX_S = 300;
const HEADER_MAX = 1_024;
const TIMESTAMP = /^t=(\d{1,12})$/;
const SIGNATURE = /^v1=[0-9a-f]{64}$/i;

/** True for a header with a recent time and a signature of the right form. `now_s` in epoch seconds. */
export function mayBePaymentSignature(
  header: string | string[] | undefined,
  now_s: number,
): header is string {
  if (typeof header !== 'string' || header.length > HEADER_MAX) return false;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.flatMap((part) => TIMESTAMP.exec(part)?.[1] ?? []);
  const is_recent = times.some((time) => now_s - Number(time) <= AGE_MAX_S);
  return is_recent && parts.some((part) => SIGNATURE.test(part));
}
