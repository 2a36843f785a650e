/** Large values of rows, one after the other in a binding of their own: within JSON a text would be escaped, and bytes would be hex. */

/** Where a value is: its first byte, counted from 1 as SQL does, and its length in bytes. */
export type Slice = readonly [start: number, length: number]

const INITIAL_BYTES = 128 * 1024
/** Of UTF-8, for a code unit of UTF-16. */
const MOST_BYTES_OF_A_UNIT = 3

export class Apart {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  #end = 0

  put(value: string | Uint8Array): Slice {
    const isText = typeof value === 'string'
    this.#makeRoom(isText ? MOST_BYTES_OF_A_UNIT * value.length : value.length)
    const start = this.#end + 1
    const length = isText ? this.#buffer.write(value, this.#end) : value.length
    if (!isText) this.#buffer.set(value, this.#end)
    this.#end += length
    return [start, length]
  }

  /** All of them. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#end)
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#end + bytes))
    larger.set(this.bytes())
    this.#buffer = larger
  }
}
