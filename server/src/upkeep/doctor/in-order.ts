/** Work that goes on side by side, with its results in the order of what it was done on. */

/** At most `most` are under way or waiting to be taken. */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<readonly [item: T, result: R]> {
  const underWay: (readonly [T, Promise<R>])[] = []
  for await (const item of items) {
    const result = work(item)
    // Told when it is its turn.
    result.catch(() => {})
    underWay.push([item, result])
    if (underWay.length >= most) yield await first(underWay)
  }
  while (underWay.length > 0) yield await first(underWay)
}

async function first<T, R>(underWay: (readonly [T, Promise<R>])[]): Promise<readonly [T, R]> {
  const [item, result] = underWay.shift()!
  return [item, await result]
}
