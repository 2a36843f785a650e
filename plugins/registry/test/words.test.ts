/** What people read of published packages. */
import { claimSentence, factSentences, outcomeSentence } from '@claimcheck/core/receipts'
import t from 'tap'
import { setUp } from './fixture.ts'

const { profile } = (await setUp()).verifier
const AT = '2026-09-25T14:02:11.000Z'
const CLAIM = { target: 'npm:tool', params: { version: '1.2.0' } }

t.test('a claim and its outcomes', async (t) => {
  t.equal(claimSentence(profile, CLAIM), 'Version 1.2.0 of npm:tool was published.')
  const params = { ...CLAIM.params, integrity: 'sha256-abc' }
  t.match(claimSentence(profile, { ...CLAIM, params }), /was published, with the digest sha256-abc\.$/)
  for (const [verdict, sentence] of [
    ['verified', /was published in time/],
    ['late', /was published too late/],
    ['mismatch', /with other content than the claim says/],
    ['failed', /was not published/],
  ] as const) {
    t.match(outcomeSentence(profile, verdict, { ...CLAIM, facts: { package_listed: true } }), sentence)
  }
})

const facts: readonly [facts: Record<string, string | boolean>, sentences: readonly RegExp[]][] = [
  [{ package_listed: true, version: '1.2.0' }, []],
  [{ package_listed: false }, [/does not show any version/]],
  [{ published_at: AT }, [/published at 2026-09-25T14:02:11.000Z/]],
  [{ preexisting: true, published_at: AT }, [/published at/, /already there before the claim, since 2026/]],
  [{ preexisting: true }, [/already there long before the claim/]],
  [
    { integrity: 'sha256-abc', integrity_by: 'claimcheck' },
    [/Claimcheck downloaded the file, and its digest is sha256-abc/],
  ],
  [{ integrity: 'sha256-abc', integrity_by: 'registry' }, [/by the registry's own account/]],
  [{ yanked: true }, [/yanked/]],
  [{ deprecated: true }, [/deprecated/]],
  [{ unpublished: true }, [/taken away again/]],
]

for (const [given, sentences] of facts) {
  t.test(`facts in sentences: ${JSON.stringify(given)}`, async (t) => {
    const told = factSentences(profile, { ...CLAIM, facts: given })
    t.equal(told.length, sentences.length)
    for (const [index, sentence] of sentences.entries()) t.match(told[index], sentence)
  })
}
