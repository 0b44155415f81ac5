// A number in a list: its phone number, with name and ID on hover.
import { useActiveNumbers } from '../api/queries';
import { nameOf } from '../attention';

export function NumberName({ id }: { id: string | null | undefined }) {
  const { data: clients = [] } = useActiveNumbers();
  const client = clients.find(({ phone_number_id }) => phone_number_id === id);
  if (!client) return <>{id ?? '–'}</>;
  return <span title={`${nameOf(client)}, ID ${id}`}>+{client.phone_number}</span>;
}
