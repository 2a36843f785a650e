/** How far back, and by how many requests, those who reported before a commit are looked for. */
import { reportersBefore } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { createCache } from './context.ts'

/** A history in which each commit has so many parents, and a host that counts what is asked. */
function historyOf(width: number, reported: Readonly<Record<string, readonly string[]>> = {}) {
  const asked = { parents: [] as string[], reporters: [] as string[] }
  return {
    asked,
    host: {
      async parents(sha: string) {
        asked.parents.push(sha)
        const [depth] = sha.split('.')
        return Array.from({ length: width }, (_, parent) => `${Number(depth) + 1}.${parent}`)
      },
      async reporters(sha: string) {
        asked.reporters.push(sha)
        return reported[sha] ?? []
      },
    },
  }
}

t.test('the nearest generation that has any reports tells', async (t) => {
  const { host, asked } = historyOf(3, {
    '3.0': ['key:a'],
    '3.1': ['key:a', 'key:b'],
    '3.2': ['key:c'],
    '4.0': ['key:d'],
  })
  const cache = createCache()
  t.strictSame(await reportersBefore('0.0', cache, host), ['key:a', 'key:b'], 'of the first two parents')
  t.strictSame(asked, { parents: ['0.0', '1.0', '2.0'], reporters: ['1.0', '1.1', '2.0', '2.1', '3.0', '3.1'] })
  await reportersBefore('0.0', cache, host)
  t.equal(asked.parents.length, 3, 'the parents of a commit never change')
  t.equal(asked.reporters.length, 12, 'who reported on it may')
})

t.test('it ends', async (t) => {
  const { host, asked } = historyOf(2, { '6.0': ['key:a'] })
  t.strictSame(await reportersBefore('0.0', createCache(), host), [])
  t.equal(asked.parents.length, 5)
  t.equal(asked.reporters.length, 10)

  const alone = historyOf(0)
  t.strictSame(await reportersBefore('0.0', createCache(), alone.host), [], 'the first commit')
  t.strictSame(alone.asked, { parents: ['0.0'], reporters: [] })
})

t.test('what a host does not show yet is asked for again', async (t) => {
  const cache = createCache()
  await reportersBefore('0.0', cache, historyOf(0).host)
  t.strictSame(await reportersBefore('0.0', cache, historyOf(1, { '1.0': ['key:a'] }).host), ['key:a'])
})
