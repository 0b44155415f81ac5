import type { Codec } from '@bmg/common/rpc';

/** What a stored row may hold for the fields of a message: null and absent fields are unset. */
type RowOf<M> = M extends Date ? M : M extends object ? { [K in keyof M]: Field<M[K]> } : M;
type Field<T> = RowOf<T> | null | undefined;

/** A stored row as a message: the fields that the message has, and no others. */
export const messageOf = <M extends object>(codec: Codec<M>, row: RowOf<M>): M =>
  codec.fromPartial(row);
