/** What people read of pushed commits. */
import { claimSentence, factSentences, outcomeSentence } from '@claimcheck/core/receipts'
import t from 'tap'
import { setUp } from './context.ts'

const { verifier } = await setUp()
const { profile } = verifier
const AT = '2026-09-25T14:02:11.000Z'
const CLAIM = { target: 'acme/app', params: { sha: '0123456789abcdef0123456789abcdef01234567', branch: 'main' } }

t.test('a claim and its outcomes are told with the commit, the branch and the repository', async (t) => {
  t.equal(claimSentence(profile, CLAIM), 'Commit 0123456789ab was pushed to main of acme/app.')
  t.equal(
    outcomeSentence(profile, 'verified', { ...CLAIM, facts: {} }),
    'Commit 0123456789ab was on main of acme/app in time.',
  )
  t.equal(
    outcomeSentence(profile, 'mismatch', { ...CLAIM, facts: { found_on: 'dev' } }),
    'Commit 0123456789ab was found on dev of acme/app, not on main.',
  )
  t.equal(
    outcomeSentence(profile, 'mismatch', { ...CLAIM, facts: {} }),
    'Commit 0123456789ab was found in acme/app, but not on main.',
  )
})

const facts: [facts: Parameters<typeof factSentences>[1]['facts'], sentences: RegExp[]][] = [
  [{ pushed_at: AT }, [/pushed at 2026-09-25T14:02:11.000Z/]],
  [{ removed_at: AT }, [/removed again at 2026/]],
  [{ preexisting: true, pushed_at: AT }, [/pushed at/, /already there before the claim, since 2026/]],
  [{ preexisting: true }, [/already there long before the claim/]],
  [{ pusher_matches: true }, [/names the pusher that the claim names/]],
  [{ pusher_matches: false }, [/names another pusher/]],
  [{ branch_listed: false }, [/does not list the branch/]],
  [{ branch_listed: true }, []],
  [{ repository: 'acme/app' }, []],
  [{ repository: 'acme/new-name' }, [/calls the repository acme\/new-name/]],
  [{ found_on: 'other' }, [/on the branch other/]],
  [{ status: 200, error: 'forbidden' }, []],
]

for (const [given, sentences] of facts) {
  t.test(`facts in sentences: ${JSON.stringify(given)}`, async (t) => {
    const told = factSentences(profile, { ...CLAIM, facts: given! })
    t.equal(told.length, sentences.length)
    for (const [index, sentence] of sentences.entries()) t.match(told[index], sentence)
  })
}
