// The partners that receive the events of a number or an account: those with an active client, and
// those that are registering it.
import { groupBy } from '@bmg/common/collections';
import type { Handlers } from '@bmg/common/rpc';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Client, NumberScope } from '../../ground/clients';
import type { OpenNumber } from '../../ground/open-registrations';
import { receivingClients, refuseTooMany } from './rules';
import type { Dependencies } from '../../dependencies';

export const createOwnerHandlers = ({ clients, openRegistrations, now }: Dependencies) =>
  ({
    async getOwners({ waba_id, phone_number_id, display_phone_number, all_active }) {
      const at = now();
      // The open ones first: a registration becomes active, and then it is closed.
      const open = await (phone_number_id !== undefined
        ? openRegistrations.ofNumbers([phone_number_id], at)
        : display_phone_number !== undefined
          ? openRegistrations.ofDisplayNumber(waba_id, display_phone_number, at)
          : openRegistrations.ofAccount(waba_id, at));
      const found = await (phone_number_id !== undefined
        ? clients.ownersOfNumber(phone_number_id, waba_id || undefined)
        : display_phone_number !== undefined
          ? clients.ownersOfDisplayNumber(waba_id, display_phone_number)
          : clients.ownersOfAccount(waba_id));
      const rows = [
        ...(all_active ? found : receivingClients(found, at)),
        ...open.filter((row) => waba_id === '' || row.waba_id === waba_id),
      ];
      return {
        ...ownersOf(rows),
        phone_number_id:
          display_phone_number === undefined ? phone_number_id : rows[0]?.phone_number_id,
      };
    },
    async getOwnersOfNumbers({ numbers }) {
      refuseTooMany('numbers', numbers);
      const at = now();
      const ids = [...new Set(numbers.map(({ phone_number_id }) => phone_number_id))];
      const open = groupBy(await openRegistrations.ofNumbers(ids, at), numberOf);
      const active = groupBy(await clients.ownersOfNumbers(ids), numberOf);
      const owners = numbers.map(({ phone_number_id, waba_id }) => {
        const isOfAccount = (row: Client | OpenNumber): boolean =>
          waba_id === '' || row.waba_id === waba_id;
        const rows = [
          ...receivingClients((active.get(phone_number_id) ?? []).filter(isOfAccount), at),
          ...(open.get(phone_number_id) ?? []).filter(isOfAccount),
        ];
        return { ...ownersOf(rows), phone_number_id };
      });
      return { owners };
    },
  }) satisfies Partial<Handlers<DirectoryDefinition>>;

const numberOf = ({ phone_number_id }: NumberScope): string => phone_number_id;

const ownersOf = (rows: NumberScope[]) => ({
  partner_ids: [...new Set(rows.map((row) => row.partner_id))],
  waba_id: rows[0]?.waba_id,
});
