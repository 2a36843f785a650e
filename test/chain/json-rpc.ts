/** One call to a node, as tests make it. */

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
export async function callRpc(url: string, method: string, params: readonly unknown[]): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
