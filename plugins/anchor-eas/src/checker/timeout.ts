/** Limits the time of work that ends with a signal. */

/**
 * Does `work` with a signal that is aborted after `timeoutMs`, or with `signal` when that is sooner. The signal is aborted when the work is done,
 * too, so that nothing of it goes on. `AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])` would not do: Node.js 20 collects the second signal
 * as garbage, and the time never ends.
 */
export async function withTimeout<T>(
  signal: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const follow = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(new DOMException('The time is over.', 'TimeoutError')), timeoutMs)
  signal?.addEventListener('abort', follow)
  if (signal?.aborted) follow()
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    controller.abort()
    signal?.removeEventListener('abort', follow)
  }
}
