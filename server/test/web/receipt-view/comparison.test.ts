/** What was claimed beside what was found: which field differs, and where its value stands. */
import { type Compared, comparisonOf, titlesOf } from '@claimcheck/server/web/receipt-view/comparison'
import t from 'tap'
import { Type } from 'typebox'

const PUSH = {
  target: 'Repository',
  params: { sha: 'Commit', branch: 'Branch' },
  facts: { found_on: 'Found on', head: 'Tip' },
  found: { target: 'repository', branch: 'found_on' },
  required: { branch: 'target', sha: 'content' },
} as const
const PUSHED: Compared = {
  claim: { target: 'acme/api', params: { sha: '3f2a', branch: 'main', host: 'github.com' } },
  facts: {},
  verdict: 'verified',
  titles: PUSH,
}
const MISSED: Compared = { ...PUSHED, verdict: 'mismatch', reason: 'target_mismatch' }
const PAGE = {
  found: { status: 'answered_status' },
  facts: { answered_status: 'Answered with' },
  required: { status: 'content', content: 'content' },
} as const
const ASKED: Compared = { claim: { target: 'https://a.example', params: {} }, facts: {}, verdict: null, titles: PAGE }
const PULL: Compared = {
  claim: { target: 'acme/api', params: { number: 1, base: 'main', head_sha: 'aa' } },
  facts: { base: 'dev', head_sha: 'aa' },
  verdict: 'mismatch',
}

const rows: [what: string, compared: Compared, told: readonly string[]][] = [
  [
    'of what is as claimed, a required field without a fact was found as it was claimed',
    { ...PUSHED, facts: { head: '9c' } },
    [
      'Repository: acme/api | acme/api',
      'Commit: 3f2a | 3f2a',
      'Branch: main | main',
      'host: github.com |',
      'Tip: | 9c',
    ],
  ],
  [
    'a fact of another name stands beside the field that it shows, which differs',
    { ...MISSED, facts: { found_on: 'dev', repository: 'Acme/API' } },
    ['Repository: acme/api | Acme/API', 'Commit: 3f2a | 3f2a', '! Branch: main | dev', 'host: github.com |'],
  ],
  [
    'where no fact shows it, the reason names the field that differs',
    MISSED,
    ['Repository: acme/api | acme/api', 'Commit: 3f2a | 3f2a', '! Branch: main |', 'host: github.com |'],
  ],
  [
    'what nobody found has no values',
    { ...PUSHED, verdict: 'failed', reason: 'not_found', facts: { head: '9c' } },
    ['Repository: acme/api |', 'Commit: 3f2a |', 'Branch: main |', 'host: github.com |', 'Tip: | 9c'],
  ],
  [
    'a check tells which fields differ, before there is a verdict, too',
    { ...ASKED, facts: { answered_status: 500 }, differs: ['status'] },
    ['Target: https://a.example | https://a.example', '! status: | 500'],
  ],
  [
    'an answer that is not what was claimed is marked when the outcome was not there',
    {
      ...ASKED,
      claim: { target: 'https://a.example', params: { status: 200 } },
      verdict: 'failed',
      facts: { answered_status: 404 },
    },
    ['Target: https://a.example |', '! status: 200 | 404'],
  ],
  [
    'without any words of a profile, a fact of the same name stands beside its param',
    PULL,
    ['Target: acme/api | acme/api', 'number: 1 |', '! base: main | dev', 'head_sha: aa | aa'],
  ],
  [
    'of two fields that the reason could mean, none is marked',
    { ...PULL, facts: {}, reason: 'content_mismatch', titles: { required: { base: 'content', head_sha: 'content' } } },
    ['Target: acme/api |', 'number: 1 |', 'base: main |', 'head_sha: aa |'],
  ],
  [
    'names that every object inherits are names like others',
    { claim: { target: 'a', params: { constructor: 'b' } }, facts: { toString: 'c' }, verdict: 'verified', titles: {} },
    ['Target: a | a', 'constructor: b |', 'toString: | c'],
  ],
]

for (const [what, compared, told] of rows) {
  t.test(what, async (t) => {
    const lines = comparisonOf(compared).map(({ title, claimed = '', found = '', differs }) =>
      `${differs ? '! ' : ''}${`${title}: ${claimed}`.trim()} | ${found}`.trim(),
    )
    t.strictSame(lines, told)
  })
}

t.test('the titles of a profile are those of its params and facts', async (t) => {
  const profile = {
    words: {
      title: 'Push',
      target: 'Repository',
      claim: 'A push.',
      outcomes: { verified: 'A.', late: 'B.', mismatch: 'C.', failed: 'D.' },
      found: { branch: 'found_on' },
    },
    params: Type.Object({ branch: Type.String({ title: 'Branch' }) }),
    facts: Type.Object({ found_on: Type.String({ title: 'Found on' }), untitled: Type.String() }),
    required: { branch: 'target' },
  } as const
  t.strictSame(titlesOf(profile), {
    target: 'Repository',
    params: { branch: 'Branch' },
    facts: { found_on: 'Found on' },
    required: { branch: 'target' },
    found: { branch: 'found_on' },
  })
})
