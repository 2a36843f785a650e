import { pluginWords } from '@claimcheck/core/words/plugins'
import { sourceWords } from '@claimcheck/core/words/sources'
import { vouchedFor } from '@claimcheck/core/words/verdicts'
import t from 'tap'

const sources: [source: Parameters<typeof sourceWords>[0], words: string][] = [
  [
    { provider: 'github', listed: true, base_url: 'https://api.github.com' },
    'https://api.github.com (listed as github)',
  ],
  [{ provider: 'git', listed: false, source_id: 'abc' }, 'a server that this workspace chose, address withheld'],
  [
    { provider: 'git', listed: false, base_url: 'https://a.example' },
    'a server that the issuer does not list, chosen by the workspace or by the issuer: https://a.example',
  ],
]

for (const [source, words] of sources) {
  t.test(`where it was read: ${words}`, async (t) => {
    t.equal(sourceWords(source), words)
  })
}

const HASH = `sha256:${'A'.repeat(43)}`
const verifiers: [more: object, words: string | undefined][] = [
  [{}, undefined],
  [{ package: '@acme/plugin', package_version: '0.1.0', code_hash: HASH }, `@acme/plugin 0.1.0, ${HASH}`],
  [{ package: 'alone', code_hash: HASH }, `alone, ${HASH}`],
  [{ package: 'alone' }, 'alone'],
  [{ code_hash: HASH }, undefined],
  [{ package: { name: 'of another issuer' }, package_version: 7 }, undefined],
  [{ package: 'alone', package_version: 7, code_hash: null }, 'alone'],
]

for (const [more, words] of verifiers) {
  t.test(`who checked it, by ${JSON.stringify(more)}: ${words}`, async (t) => {
    t.equal(pluginWords({ id: 'a.b.c', version: '1', ...more }), words)
  })
}

t.test('only verified is taken for more than it says', async (t) => {
  t.match(vouchedFor('verified'), /does not say who brought it there/)
  t.equal(vouchedFor('late'), undefined)
})
