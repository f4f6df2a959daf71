/** Bloom filters of the PostgreSQL extension bloomtype. */

/** SQL types whose keys can be hashed here.  An enum is `enum mood`. */
export type KeyTypeName =
  | 'text' | 'varchar' | 'name'
  | 'bigint' | 'integer' | 'int' | 'smallint' | 'int8' | 'int4' | 'int2'
  | 'double precision' | 'float8' | 'real' | 'float4'
  | 'boolean' | 'bool'
  | 'uuid' | 'bytea'
  | 'date' | 'timestamp' | 'timestamptz' | 'timestamp without time zone' | 'timestamp with time zone'
  | `enum ${string}`

/**
 * A key, by the filter's key type:
 *
 * - text, or an enum: a string.  Of char(n), without trailing blanks
 * - bigint: a number that is a safe integer, or a bigint; within the range of
 *   the type, if that is given as integer or smallint
 * - double precision: a number.  Where the keys are of a column of type real,
 *   give the type 'real': then 0.1 is the real next to it
 * - boolean: true or false
 * - uuid: its text, or 16 bytes
 * - bytea: bytes
 * - date: '2026-11-22', or a Date that is midnight UTC
 * - timestamp: a Date, by its time in UTC, or a bigint of microseconds since
 *   1970-01-01 UTC.  A Date has milliseconds only
 * - date and timestamp: also 'infinity' and '-infinity'
 */
export type Key = string | number | bigint | boolean | Date | ArrayBuffer | ArrayBufferView

/** What bloom_info of the server returns. */
export interface Info {
  /** null: no key has determined it yet. */
  keyType: string | null
  bits: number
  hashes: number
  seed: bigint
  /** How many keys the filter is for. */
  capacity: number
  /** The requested false-positive rate. */
  fpProb: number
  /** An estimate; exact in keys form. */
  keys: number
  /** The rate of false positives now. */
  fpProbNow: number
  /** The fraction of bits set. */
  fill: number
  /** Of toBytes(). */
  bytes: number
  representation: 'keys' | 'bits'
}

export class BloomFilter {
  private constructor()
  /**
   * The filter of the bytes of `filter::bytea`, or of its text form, base64.
   * Bytes are not copied: do not change them.  Error 22P03: they are malformed.
   */
  static from(source: ArrayBuffer | ArrayBufferView | string): BloomFilter
  static builder(options: BuilderOptions): BloomBuilder
  /**
   * Is the key possibly in the filter?  False is certain.  Error 42804: the key
   * has another type than the filter's keys; 22023: there is no such key.
   */
  has(key: Key, type?: KeyTypeName): boolean
  /** The same by the hash of a key, as bloom_hash and hashKey return it. */
  hasHash(hash: bigint): boolean
  /** The bits that a key sets, as bloom_positions returns them. */
  positions(key: Key, type?: KeyTypeName): number[]
  positionsOfHash(hash: bigint): number[]
  /**
   * The filter of the keys of both.  Error 42804: they have different shapes, or
   * different types of keys.
   */
  union(other: BloomFilter): BloomFilter
  /** A filter of at least the keys that are in both: its rate is higher. */
  intersect(other: BloomFilter): BloomFilter
  readonly info: Info
  /** Is the rate, `info.fpProbNow`, above fpProb, and the estimate above the capacity by more than chance? */
  readonly isOverfull: boolean
  /** The bytes that the server takes, `$1::bytea::bloom`; not copied. */
  toBytes(): Uint8Array
  /** The text form, base64. */
  toString(): string
  /** In JSON, the text form, which `from` reads. */
  toJSON(): string
  /** As a parameter of node-postgres, the text form. */
  toPostgres(): string
}

/** Another name than these is an error, such as fp_prob. */
export interface BuilderOptions {
  /** How many distinct keys the filter is for; a fraction is rounded up. */
  capacity: number | bigint
  /** The rate of false positives at capacity; 0.01 by default. */
  fpProb?: number
  keyType: KeyTypeName
  /** 64 bits, with a sign; 0 by default.  Filters that are combined have the same. */
  seed?: number | bigint
  /**
   * Called once, when bytes are made of more keys than the capacity: the rate is
   * then `info.fpProbNow`.  By default, `console.warn` says so.
   */
  onOverfull?: (info: Info) => void
}

export class BloomBuilder {
  constructor(options: BuilderOptions)
  /** Adds a key; null and undefined are ignored, as in SQL. */
  add(key: Key | null | undefined): this
  addAll(keys: Iterable<Key | null | undefined>): this
  /** The filter, as bytes for the server, as text, or to be tested.  More keys can be added afterwards. */
  toBytes(): Uint8Array
  toString(): string
  toJSON(): string
  toPostgres(): string
  build(): BloomFilter
}

/** The code is the SQLSTATE that the server has for such an error. */
export class BloomError extends Error {
  constructor(code: string, message: string)
  readonly code: string
}

/** The hash of a key: bloom_hash of the server. */
export function hashKey(key: Key, type: KeyTypeName, seed?: number | bigint): bigint

/** The least bits per key, and hashes, that reach a rate: best_params of the server. */
export function bestParams(fpProb: number): { bitsPerKey: number, hashes: number, fpProb: number }

/** The shape of a filter for so many keys: bloom_params of the server. */
export function params(capacity: number | bigint, fpProb?: number): { bits: number, hashes: number, bytes: number, fpProb: number }
