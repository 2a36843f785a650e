/** A destination for the conformance kit: one stand-in for each situation, behind one address. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Destination, runConformance } from '@claimcheck/core/testkit'
import type { Test } from 'tap'

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

/** The checks that fail at requests of the git program, and why it is right that they do: none of them is about what was found. */
const OF_GIT: readonly (readonly [name: string, problem: RegExp, why: string])[] = [
  ['clock.machine', /machine's clock/, 'it compares the ages of folders, which the file system has from the machine'],
  ['fault.large-body', /throws `unavailable`/, 'the program gives up by itself and says that it failed'],
  ['fault.compression-bomb', /throws `unavailable`/, 'as above'],
  ['fault.401', /throws `unavailable`/, 'the program had been let in by the request before'],
  ['fault.429-with-retry-after', /gives retryAfterMs 60000/, 'the program tells no headers'],
]

/** It passes, but for what the git program keeps to itself. @param always where every one of that must fail */
export function passesButForGit(
  t: Test,
  { checks }: Pick<Awaited<ReturnType<typeof runConformance>>, 'checks'>,
  always = false,
): void {
  const isKnown = (name: string, problem = '') => OF_GIT.some(([one, text]) => one === name && text.test(problem))
  const failed = checks.filter(({ ok }) => !ok)
  const unknown = failed.filter(({ name, problem }) => !isKnown(name, problem))
  t.strictSame(unknown, [])
  t.ok(checks.length > 100, `${checks.length} checks`)
  if (!always) return
  const names = failed.map(({ name }) => name)
  for (const [name, , why] of OF_GIT) t.ok(names.includes(name), `${name}: ${why}`)
}
