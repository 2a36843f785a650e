/** A limit on how long somebody else's work may take. */

/** What `work` comes to, or what `expire` throws when that takes longer. Work that does not end is left behind. */
export async function withinTime<T>(work: Promise<T>, limitMs: number, expire: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(expire()), limitMs)
  })
  try {
    return await Promise.race([work, expiry])
  } finally {
    clearTimeout(timer)
  }
}

/** What `work` comes to; undefined when that takes longer, or when it fails. It goes on either way. */
export async function settledWithin<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs)
  })
  try {
    return await Promise.race([work.catch(() => undefined), expiry])
  } finally {
    clearTimeout(timer)
  }
}
