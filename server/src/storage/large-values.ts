/** Large values of rows, one after the other in a binding of their own: within JSON a text would be escaped, and bytes would be hex. */

/** The place of a value in a binding of large values: its first byte, counted from 1 as SQL does, and its length in bytes. */
export type Slice = readonly [start: number, length: number]

export class LargeValues {
  readonly #values: Buffer[] = []
  #length = 0

  /** Adds a value, and returns its place. A text becomes UTF-8. */
  add(value: string | Uint8Array): Slice {
    const bytes = Buffer.from(value as string)
    this.#values.push(bytes)
    const start = this.#length + 1
    this.#length += bytes.length
    return [start, bytes.length]
  }

  bytes(): Buffer {
    return Buffer.concat(this.#values, this.#length)
  }
}
