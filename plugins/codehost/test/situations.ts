/** A destination for the conformance kit: one stand-in for each situation, behind one address. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Destination } from '@claimcheck/core/testkit'

interface Standing {
  /** Without the path of its API. */
  readonly origin: string
  close(): Promise<void>
}

/** @param build gives a stand-in in a situation, and what claims name of it, which is the same in all of them */
export function inSituations<S extends string, N>(
  situations: readonly S[],
  build: (situation: S, now: () => number) => Promise<{ readonly standIn: Standing; readonly named: N }>,
): Destination<S, N> {
  const built = new Map<S, { readonly standIn: Standing; readonly named: N }>()
  let current: Standing

  return {
    async start({ now }) {
      for (const situation of situations) built.set(situation, await build(situation, now))
      current = built.get(situations[0]!)!.standIn
      const front = createServer((asked, answer) => {
        const { method, url, headers } = asked
        const passed = request(current.origin + url, { method, headers, agent: false }, (response) => {
          answer.writeHead(response.statusCode!, response.headers)
          response.pipe(answer)
        })
        passed.on('error', () => answer.destroy())
        asked.pipe(passed)
      }).listen(0, '127.0.0.1')
      await once(front, 'listening')
      return {
        url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
        async stop() {
          front.closeAllConnections()
          front.close()
          for (const { standIn } of built.values()) await standIn.close()
        },
      }
    },
    set(situation) {
      const { standIn, named } = built.get(situation)!
      current = standIn
      return named
    },
  }
}
