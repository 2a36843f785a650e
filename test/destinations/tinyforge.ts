/** A small forge on loopback, with an API of its own: repositories, branches and the history of their commits. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Network } from './github-network.ts'

export interface Forge {
  readonly url: string
  /** Of its claims: `params.host`. */
  readonly host: string
  /** Every request, oldest first. */
  readonly requests: string[]
  /** Pushes a new commit. Its id. */
  push(branch: string, parents?: readonly string[]): string
  close(): void
}

/** @param token without it every answer is 401 */
export async function startForge({ slug, token }: { slug: string; token: string }): Promise<Forge> {
  const network = new Network()
  const tips = new Map<string, string>()
  const known = new Set<string>()
  const requests: string[] = []

  const reaches = (older: string, newer: string) => network.mergeBase(older, newer) === older
  const routes: readonly (readonly [RegExp, (part: string, query: URLSearchParams) => object | undefined])[] = [
    [/^$/, () => ({ id: 7, name: slug })],
    [/^\/branches\/(.+)$/, (name) => (tips.has(name) ? { tip: tips.get(name) } : undefined)],
    [
      /^\/commits\/(.+)$/,
      (sha) =>
        known.has(sha) ? { branches: [...tips.keys()].filter((name) => reaches(sha, tips.get(name)!)) } : undefined,
    ],
    [
      /^\/contains$/,
      (_, query) => {
        const [older, newer] = ['older', 'newer'].map((name) => query.get(name)!) as [string, string]
        return known.has(older) && known.has(newer) ? { contains: reaches(older, newer) } : undefined
      },
    ],
  ]

  function answer(path: string, query: URLSearchParams): object | undefined {
    const root = `/repos/${slug}`
    if (path === '/') return {}
    if (!path.startsWith(root)) return undefined
    for (const [pattern, found] of routes) {
      const match = pattern.exec(path.slice(root.length))
      if (match) return found(decodeURIComponent(match[1] ?? ''), query)
    }
    return undefined
  }

  const server = createServer(({ method, url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    requests.push(`${method} ${url}`)
    const found = answer(pathname, searchParams)
    const status = found ? 200 : 404
    const isAllowed = headers.authorization === `Bearer ${token}`
    response.writeHead(isAllowed ? status : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify((isAllowed && found) || {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${host}`,
    host,
    requests,
    push(branch, parents = tips.has(branch) ? [tips.get(branch)!] : []) {
      const sha = network.commit({ parents })
      network.publish(sha, Date.now())
      known.add(sha)
      tips.set(branch, sha)
      return sha
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
