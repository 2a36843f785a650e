/** Works on several items at the same time, and returns the results in the order of the items. */

/** At most `concurrency` items are in progress or have a result that is not yet taken. */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<readonly [item: T, result: R]> {
  const started: (readonly [T, Promise<R>])[] = []
  for await (const item of items) {
    const result = work(item)
    // The error is thrown when it is the item's turn; until then it must not count as unhandled.
    result.catch(() => {})
    started.push([item, result])
    if (started.length >= concurrency) yield await first(started)
  }
  while (started.length > 0) yield await first(started)
}

async function first<T, R>(started: (readonly [T, Promise<R>])[]): Promise<readonly [T, R]> {
  const [item, result] = started.shift()!
  return [item, await result]
}
