/** Decodes Solidity's ABI. Only the canonical encoding is accepted: otherwise two checkers could read two values. */

/** The JavaScript value of each ABI type. */
interface Values {
  readonly bytes32: Uint8Array
  readonly address: Uint8Array
  readonly uint64: bigint
  readonly bool: boolean
  readonly bytes: Uint8Array
  readonly string: string
}
type AbiType = keyof Values
type Decoded<T extends readonly AbiType[]> = { readonly [Index in keyof T]: Values[T[Index]] }

const WORD_BYTES = 32

/** Decodes the values of a tuple; `undefined` unless the bytes are exactly the canonical encoding of one, with none missing or left over. */
export function decodeAbi<const T extends readonly AbiType[]>(types: T, encoded: Uint8Array): Decoded<T> | undefined {
  const values: Values[AbiType][] = []
  // A value without a fixed length has its offset in its word. Its content follows the words, in order and without gaps.
  let end = types.length * WORD_BYTES
  for (const [index, type] of types.entries()) {
    const word = wordAt(encoded, index * WORD_BYTES)
    if (!word) return undefined
    let content = word
    if (type === 'bytes' || type === 'string') {
      const tail = readUint64(word) === BigInt(end) ? readTail(encoded, end) : undefined
      if (!tail) return undefined
      content = tail.content
      end = tail.end
    }
    const value = READERS[type](content)
    if (value === undefined) return undefined
    values.push(value)
  }
  return end === encoded.length ? (values as unknown as Decoded<T>) : undefined
}

/** Decodes one tuple with a member of no fixed length, as functions return it: it is encoded behind its offset. */
export function decodeTuple<const T extends readonly AbiType[]>(types: T, encoded: Uint8Array): Decoded<T> | undefined {
  const offset = decodeAbi(['uint64'], encoded.subarray(0, WORD_BYTES))
  return offset?.[0] === BigInt(WORD_BYTES) ? decodeAbi(types, encoded.subarray(WORD_BYTES)) : undefined
}

const READERS: { readonly [Type in AbiType]: (content: Uint8Array) => Values[Type] | undefined } = {
  bytes32: (word) => word,
  address: (word) => (isZero(word.subarray(0, 12)) ? word.subarray(12) : undefined),
  uint64: readUint64,
  bool: (word) => ({ 0: false, 1: true })[Number(readUint64(word) ?? 2)],
  bytes: (content) => content,
  string: readUtf8,
}

function readTail(
  encoded: Uint8Array,
  start: number,
): { readonly content: Uint8Array; readonly end: number } | undefined {
  const word = wordAt(encoded, start)
  const length = word && readUint64(word)
  const from = start + WORD_BYTES
  if (length === undefined || length > BigInt(encoded.length - from)) return undefined
  const to = from + Number(length)
  const end = from + Math.ceil(Number(length) / WORD_BYTES) * WORD_BYTES
  const isPadded = end <= encoded.length && isZero(encoded.subarray(to, end))
  return isPadded ? { content: encoded.subarray(from, to), end } : undefined
}

function wordAt(encoded: Uint8Array, start: number): Uint8Array | undefined {
  const word = encoded.subarray(start, start + WORD_BYTES)
  return word.length === WORD_BYTES ? word : undefined
}

function readUint64(word: Uint8Array): bigint | undefined {
  if (!isZero(word.subarray(0, 24))) return undefined
  return word.subarray(24).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function readUtf8(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}
