import { pluginWords } from '@claimcheck/core/words/plugins'
import { sourceWords } from '@claimcheck/core/words/sources'
import { outcomeWords, vouchedFor } from '@claimcheck/core/words/verdicts'
import t from 'tap'

const NAMED = { target: 'acme/app', params: { branch: 'main' }, facts: {} }

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

const worded = {
  words: {
    title: 'Push',
    target: 'Repository',
    claim: 'A push to {branch}.',
    outcomes: { verified: 'On {branch} in time.', late: [], mismatch: 'On {found_on}.', failed: 'Not on {branch}.' },
  },
}
const outcomes: [args: Parameters<typeof outcomeWords>, words: RegExp][] = [
  [['verified', undefined, worded, NAMED], /^On main in time\.$/],
  [['failed', 'not_found', worded, NAMED], /^Not on main\.$/],
  [['verified', undefined, undefined, NAMED], /^The outcome is there as claimed/],
  [['late', 'observed_after_tolerance', worded, NAMED], /^The outcome is there as claimed, but/],
  [['mismatch', 'target_mismatch', worded, NAMED], /^Something is there, but it is not what was claimed\.$/],
  [['unverifiable', 'rate_limited', worded, NAMED], /nothing for or against the agent\. The destination limited/],
  [['unverifiable', undefined, worded, NAMED], /nothing for or against the agent\.$/],
]

for (const [args, words] of outcomes) {
  t.test(`what was found, of ${args[0]} with${args[2] ? '' : 'out'} the words of a profile: ${words}`, async (t) => {
    t.match(outcomeWords(...args), words)
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
