// Types that tie a row's fields to the request message of its RPC. The codec silently drops keys
// that a message does not have, so the compiler refuses them.
import type { Method, RequestOf } from '@bmg/common/rpc';

type Leaf = string | number | boolean | Date | Uint8Array | null | undefined;

/**
 * The type that `fromPartial` of a codec takes: at any depth, a field may be absent. A Struct is
 * opaque.
 */
export type Given<T> = T extends Leaf
  ? T
  : T extends ReadonlyArray<infer I>
    ? ReadonlyArray<Given<I>>
    : string extends keyof T
      ? T
      : { readonly [K in keyof T]?: Given<T[K]> | undefined };

type KeyOf<T> = T extends unknown ? keyof T & string : never;

/** The value of a key in the members of a union that have it. */
type ValueOf<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;

/** Keys, at any depth, that the message does not have. */
type Unknown<F, M, At extends string = ''> = F extends Leaf
  ? never
  : F extends ReadonlyArray<infer I>
    ? M extends ReadonlyArray<infer J>
      ? Unknown<I, NonNullable<J>, At>
      : never
    : string extends keyof M
      ? never
      : {
          [K in KeyOf<F>]: K extends keyof M
            ? Unknown<ValueOf<F, K>, NonNullable<M[K]>, `${At}${K}.`>
            : `${At}${K}`;
        }[KeyOf<F>];

type Mistyped<F, M> = {
  [K in KeyOf<F> & keyof M]: [ValueOf<F, K>] extends [Given<M[K]> | undefined] ? never : K;
}[KeyOf<F> & keyof M];

type Missing<F, M, X> = Exclude<keyof M & string, KeyOf<F> | X>;

type Say<Text extends string, Key> = Key extends string ? `${Text} ${Key}` : never;

type Reasons<F, R, X> =
  | Say<'the RPC has no field', Unknown<F, R>>
  | Say<'the RPC takes another type of', Mistyped<F, R>>
  | Say<'the row lacks the field', Missing<F, R, X>>;

/** The type that the compiler shows instead of a row whose request does not fit its RPC. */
export interface Misfit<Reason> {
  reason: Reason;
}

/** A row, if the fields F make a request of the method M, apart from the fields X. */
export type Fitting<Row, F, M extends Method, X> =
  Reasons<F, RequestOf<M>, X> extends infer Reason
    ? [Reason] extends [never]
      ? Row
      : Reason extends unknown
        ? Misfit<Reason>
        : never
    : never;

/** The parameters in the text of a path: `/groups/:group_id` has `group_id`. */
export type ParamsOf<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? { [K in Name]: string } & ParamsOf<`/${More}`>
    : { [K in Rest]: string }
  : Record<never, string>;
